// Puts what the server sends where it belongs, and sends what a person decides, as it was typed: texts are read by the server.
const given = new URLSearchParams(location.hash.slice(1)).get("k");
let key = given;
try {
  if (given) sessionStorage.setItem("key", given);
  key = given ?? sessionStorage.getItem("key");
} catch {
  // Storage is switched off: the key is in the address.
}

const title = document.title;
const element = (id) => document.getElementById(id);

function say(text) {
  const message = element("message");
  message.textContent = text;
  message.hidden = !text;
}

async function post(path, body) {
  try {
    const headers = { "content-type": "application/json", "x-llmnode-key": key };
    const answer = await fetch(path, { method: "POST", headers, body: JSON.stringify(body) });
    say(answer.ok ? "" : await answer.text());
    return answer.ok;
  } catch {
    say("The server does not answer.");
    return false;
  }
}

function isChanged(field) {
  if (field.type === "checkbox") return field.checked !== field.defaultChecked;
  if (field.options) return [...field.options].some((option) => option.selected !== option.defaultSelected);
  return field.value !== field.defaultValue;
}

// What has the focus, what is open, and what was typed stays so.
function show(panel, html) {
  const place = element(panel);
  if (!place) return;
  const focused = place.contains(document.activeElement) ? document.activeElement.id : "";
  const open = [...place.querySelectorAll("details[open]")].map((details) => details.id).filter(Boolean);
  const fields = [...place.querySelectorAll("[data-name], [data-requests]")].filter(isChanged);
  const typed = fields.map((field) => [field.id, field.value, field.checked]);
  const scrolled = place.querySelector(".scroll")?.scrollLeft ?? 0;
  place.innerHTML = html;
  for (const id of open) element(id)?.setAttribute("open", "");
  for (const [id, value, checked] of typed) {
    const field = element(id);
    if (field && place.contains(field)) {
      field.value = value;
      if (field.type === "checkbox") field.checked = checked;
    }
  }
  const scroll = place.querySelector(".scroll");
  if (scroll) scroll.scrollLeft = scrolled;
  if (focused) element(focused)?.focus({ preventScroll: true });
  busy();
}

function texts(calls) {
  const place = element("texts");
  const kept = new Set(calls.map(([index]) => `text-${index}`));
  for (const section of [...place.children]) if (!kept.has(section.id)) section.remove();
  for (const [index, position] of calls) {
    if (element(`text-${index}`)) continue;
    const section = document.createElement("section");
    section.id = `text-${index}`;
    const title = document.createElement("h3");
    title.textContent = position;
    section.append(title, document.createElement("pre"));
    place.append(section);
  }
}

function append(index, text) {
  const pre = element(`text-${index}`)?.querySelector("pre");
  if (!pre) return;
  const follows = pre.scrollHeight - pre.scrollTop - pre.clientHeight < 8;
  pre.append(text);
  if (follows) pre.scrollTop = pre.scrollHeight;
}

const isTyping = () => document.activeElement?.matches("textarea, input, select") ?? false;

// As high as its text: what a person decides about stands whole.
function grow(area) {
  area.style.height = "auto";
  area.style.height = `${area.scrollHeight + 2}px`;
}

// By the id of what waits. A form is never drawn anew, so that an edit is never lost.
const waiting = new Map();
const DEAD = 1000;
let wakes = 0;

// A click that was meant for what was there before decides nothing: when a form comes or goes, the others move.
function deaden(place) {
  const buttons = () => place.querySelectorAll("button");
  const focused = document.activeElement;
  const heading = focused?.matches("button") && focused.closest("#waiting section")?.querySelector("h2");
  if (heading) heading.focus({ preventScroll: true });
  buttons().forEach((button) => (button.disabled = true));
  clearTimeout(wakes);
  wakes = setTimeout(() => buttons().forEach((button) => (button.disabled = false)), DEAD);
}

function waits(entries) {
  const place = element("waiting");
  const kept = new Set(entries.map(({ id }) => id));
  const isSame = kept.size === waiting.size && entries.every(({ id }) => waiting.has(id));
  let lost = false;
  for (const [id, section] of waiting) {
    if (kept.has(id)) continue;
    lost ||= section.contains(document.activeElement);
    section.remove();
    waiting.delete(id);
  }
  let heading = lost ? place.querySelector("h2") : null;
  for (const { id, html } of entries) {
    if (waiting.has(id)) continue;
    const section = document.createElement("section");
    section.innerHTML = html;
    place.append(section);
    waiting.set(id, section);
    section.querySelectorAll("textarea").forEach(grow);
    heading ??= section.querySelector("h2");
  }
  if (!isSame) deaden(place);
  // Never a button or a field; and who types goes on typing.
  if (heading && !isTyping()) heading.focus();
}

let isBusy = false;

function busy() {
  for (const button of document.querySelectorAll("form[data-run] button, button[data-again]")) button.disabled = isBusy;
}

function now(event) {
  const line = element("now");
  line.hidden = !event.now;
  document.title = event.now ? `${event.title} · ${title}` : title;
  isBusy = event.busy;
  busy();
  if (!event.now) return;
  const link = document.createElement("a");
  link.href = event.href;
  link.textContent = event.now;
  line.className = event.kind;
  if (line.textContent !== event.now || line.firstChild?.getAttribute("href") !== event.href) line.replaceChildren(link);
}

// What a person types into stays where it is on the screen.
function happened(event) {
  const field = isTyping() ? document.activeElement : null;
  const before = field?.getBoundingClientRect().top;
  draw(event);
  const now = field?.isConnected ? field : element(field?.id);
  const after = now?.getBoundingClientRect().top;
  if (field && now && after !== before) scrollBy(0, after - before);
}

function draw(event) {
  if ("panel" in event) show(event.panel, event.html);
  else if ("waiting" in event) waits(event.waiting);
  else if ("now" in event) now(event);
  else if ("texts" in event) texts(event.texts);
  else append(event.append, event.text);
}

async function follow() {
  const answer = await fetch("/api/events", { headers: { "x-llmnode-key": key } });
  if (!answer.ok) {
    say(await answer.text());
    return answer.status !== 403;
  }
  say("");
  texts([]);
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return true;
    const events = (rest + value).split("\n\n");
    rest = events.pop();
    for (const event of events) {
      const data = event.split("\n").filter((line) => line.startsWith("data:"));
      if (data.length) happened(JSON.parse(data.map((line) => line.slice(5)).join("\n")));
    }
  }
}

function typedIn(form) {
  const inputs = {};
  for (const field of form.querySelectorAll("[data-name]")) {
    inputs[field.dataset.name] = field.type === "checkbox" ? field.checked : field.value;
  }
  return inputs;
}

function run(form) {
  const inputs = typedIn(form);
  const requests = form.querySelector("[data-requests]").value;
  post("/api/run", { file: Number(form.dataset.run), inputs, requests });
}

async function decide(form, answer) {
  if (form.dataset.sent) return;
  form.dataset.sent = "1";
  const body = { pause: form.dataset.pause, id: form.dataset.decide, answer };
  for (const name of ["arguments", "why", "result"]) {
    const field = form.querySelector(`[name=${name}]`);
    if (field) body[name] = field.value;
  }
  if (form.querySelector("[data-name]")) body.typed = typedIn(form);
  if (!(await post("/api/decide", body))) delete form.dataset.sent;
}

// The button of a form that is of the kind `submit` says no, and Enter in a field presses it: only with a reason.
document.addEventListener("submit", (event) => {
  event.preventDefault();
  const form = event.target;
  if (form.dataset.run) run(form);
  else if (event.submitter && !event.submitter.disabled) decide(form, "no");
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return;
  if (event.target.matches("[name=why]") && !event.target.value.trim()) event.preventDefault();
  if (event.target.matches("form[data-decide] button[type=button]")) {
    event.preventDefault();
    say("Enter decides nothing here: click, or press the space bar.");
  }
});

document.addEventListener("input", (event) => {
  const area = event.target;
  if (!area.matches("textarea.whole")) return;
  grow(area);
  const yes = area.form.querySelector("[value=yes]");
  if (yes && area.name === "arguments") yes.textContent = area.value === area.defaultValue ? "Yes" : "Yes, as edited";
});

addEventListener("resize", () => document.querySelectorAll("textarea.whole").forEach(grow));

// The second click of a double click is for what was there before.
document.addEventListener("click", (event) => {
  if (event.detail > 1 && event.target.closest("button")) {
    event.preventDefault();
    event.stopImmediatePropagation();
  }
}, true);

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button?.dataset.post) post(button.dataset.post, {});
  if (button?.dataset.again) post("/api/run", { again: Number(button.dataset.again) });
  if (button?.type === "button" && button.form?.dataset.decide) decide(button.form, button.value);
  // It opens in the frame, which may be far above the list.
  const shown = event.target.closest("a[data-show]");
  if (shown) {
    element("shown").textContent = `The page of run ${shown.dataset.show}`;
    element("shown").scrollIntoView({ block: "start" });
  }
  // The fragment of the address stays: it has the key.
  const link = event.target.closest('a[href^="#"]');
  const target = link && element(decodeURIComponent(link.getAttribute("href").slice(1)));
  if (target) {
    event.preventDefault();
    target.open = true;
    target.scrollIntoView({ block: target.offsetHeight > innerHeight / 2 ? "start" : "center" });
    target.querySelector("summary, h2[tabindex]")?.focus({ preventScroll: true });
  }
});

if (!key) say("Open the address that the command printed: it has a key, which this one lacks.");
while (key) {
  try {
    if (!(await follow())) break;
  } catch {
    say("The server does not answer.");
  }
  await new Promise((wait) => setTimeout(wait, 1000));
}
