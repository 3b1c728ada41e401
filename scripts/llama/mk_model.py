"""Writes a llama-architecture model of half a megabyte with random weights: mk_model.py OUT.gguf

What it says means nothing. What it is good for is everything around the text: a real server loads it, counts
its tokens, and holds it to a JSON schema. The weights come from a fixed seed, so the file is always the same.
"""

import sys

import gguf
import numpy as np

WIDTH, LAYERS, HEADS, FEED_FORWARD = 64, 2, 4, 128
CONTEXT = 8192
SEED = 7
UNK, BOS, EOS = 0, 1, 2
SPACE = "\u2581"  # how a SentencePiece vocabulary spells a space

# Messages are set off by their role; a role is data here, so no message can pass for another one's.
CHAT_TEMPLATE = (
    "{% for m in messages %}<|{{ m['role'] }}|>\n{{ m['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>\n{% endif %}"
)


def vocabulary():
    """Three control tokens, one token per byte, one per printable character: [(text, score, type)]."""
    kind = gguf.TokenType
    tokens = [(b"<unk>", 0.0, kind.UNKNOWN), (b"<s>", 0.0, kind.CONTROL), (b"</s>", 0.0, kind.CONTROL)]
    tokens += [(b"<0x%02X>" % byte, 0.0, kind.BYTE) for byte in range(256)]
    characters = [chr(code) for code in range(0x21, 0x7F)] + [SPACE]
    return tokens + [(c.encode(), -1.0, kind.NORMAL) for c in characters]


def bias_of(token_id, text):
    """How much likelier than chance a token is, before the random part of the model speaks."""
    if token_id in (UNK, BOS):
        return -6.0
    first_byte = EOS + 1
    byte = token_id - first_byte
    # A lone byte above ASCII is no UTF-8, and llama.cpp answers 500 to text it cannot decode.
    if 0 <= byte < 0x20 or 0x80 <= byte < 0x100:
        return -6.0
    if text in (b'"', b",", b"]", b"}"):
        return 0.6  # values end after some characters instead of running into the context's end
    if text in (SPACE.encode(), b"<0x20>"):
        return -0.8
    return 0.0


def weights(tokens):
    """Tensor name -> values, as llama.cpp names them."""
    rng = np.random.default_rng(SEED)

    def random(*shape):
        return (rng.standard_normal(shape) * 0.08).astype(np.float32)

    def silent_on_channel_0(*shape):
        matrix = random(*shape)
        matrix[0, :] = 0.0
        return matrix

    # A llama model has no bias on its output. Channel 0 of the hidden state stands in for one: every embedding
    # puts a 1 there and no layer adds to it, so column 0 of the output matrix weighs each token by a constant.
    embedding, output = random(len(tokens), WIDTH), random(len(tokens), WIDTH)
    embedding[:, 0] = 1.0
    output[:, 0] = [bias_of(token_id, text) for token_id, (text, _, _) in enumerate(tokens)]
    ones = np.ones(WIDTH, np.float32)

    tensors = {"token_embd.weight": embedding, "output_norm.weight": ones, "output.weight": output}
    for layer in range(LAYERS):
        block = {
            "attn_norm": ones,
            "attn_q": random(WIDTH, WIDTH),
            "attn_k": random(WIDTH, WIDTH),
            "attn_v": random(WIDTH, WIDTH),
            "attn_output": silent_on_channel_0(WIDTH, WIDTH),
            "ffn_norm": ones,
            "ffn_gate": random(FEED_FORWARD, WIDTH),
            "ffn_up": random(FEED_FORWARD, WIDTH),
            "ffn_down": silent_on_channel_0(WIDTH, FEED_FORWARD),
        }
        tensors |= {f"blk.{layer}.{name}.weight": values for name, values in block.items()}
    return tensors


def write(path):
    tokens = vocabulary()
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("tiny-random")
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)

    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(FEED_FORWARD)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_layer_norm_rms_eps(1e-5)

    texts, scores, types = zip(*tokens)
    writer.add_tokenizer_model("llama")
    writer.add_vocab_size(len(tokens))
    writer.add_token_list(texts)
    writer.add_token_scores(scores)
    writer.add_token_types(types)
    writer.add_unk_token_id(UNK)
    writer.add_bos_token_id(BOS)
    writer.add_eos_token_id(EOS)
    writer.add_add_bos_token(True)
    writer.add_add_space_prefix(False)
    writer.add_chat_template(CHAT_TEMPLATE)

    for name, values in weights(tokens).items():
        writer.add_tensor(name, values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: mk_model.py OUT.gguf")
    write(sys.argv[1])
