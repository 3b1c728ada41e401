// Puts what the server sends where it belongs, and sends what a person decides.
const given = new URLSearchParams(location.hash.slice(1)).get("k");
let key = given;
try {
  if (given) sessionStorage.setItem("key", given);
  key = given ?? sessionStorage.getItem("key");
} catch {
  // Storage is switched off: the key is in the address.
}

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
  } catch {
    say("The server does not answer.");
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
  const open = [...place.querySelectorAll("details[open]")].map((details) => details.id);
  const fields = [...place.querySelectorAll("[data-name], [name]:not(iframe), [data-requests]")].filter(isChanged);
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
  if (focused) element(focused)?.focus();
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

function happened(event) {
  if ("panel" in event) show(event.panel, event.html);
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

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function value(field) {
  if (field.dataset.kind === "flag") return field.checked;
  if (field.dataset.kind === "text") return field.value;
  return field.value === "" ? undefined : parsed(field.value);
}

function run(form) {
  const inputs = {};
  for (const field of form.querySelectorAll("[data-name]")) inputs[field.dataset.name] = value(field);
  const requests = Number(form.querySelector("[data-requests]").value) || 1;
  post("/api/run", { file: Number(form.dataset.run), inputs, requests });
}

function decide(form, answer) {
  const field = (name) => form.querySelector(`[name=${name}]`)?.value ?? "";
  const body = { pause: form.dataset.pause, id: form.dataset.decide, answer };
  if (answer === "no") body.why = field("why");
  if (answer === "result") body.value = parsed(field("result"));
  if (answer === "edit") {
    body.values = parsed(field("values"));
    if (body.values?.constructor !== Object) return say("The arguments are no JSON object: mend them, or take Yes.");
  }
  post("/api/decide", body);
}

document.addEventListener("submit", (event) => {
  event.preventDefault();
  const form = event.target;
  if (form.dataset.run) run(form);
  else decide(form, event.submitter?.value ?? "yes");
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-post], button[data-again]");
  if (button?.dataset.post) post(button.dataset.post, {});
  if (button?.dataset.again) post("/api/run", { again: Number(button.dataset.again) });
  // The fragment of the address stays: it has the key.
  const link = event.target.closest('a[href^="#"]');
  const target = link && element(decodeURIComponent(link.getAttribute("href").slice(1)));
  if (target) {
    event.preventDefault();
    target.open = true;
    target.scrollIntoView({ block: "center" });
    target.querySelector("summary")?.focus();
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
