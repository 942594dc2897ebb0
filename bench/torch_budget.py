#!/usr/bin/env python3
"""The other side of recompute.py: a GPT-2 under torch.compile at one activation_memory_budget.

Prints one JSON object: median seconds of a step (the first two left out) and the bytes that autograd
keeps from forward to backward, each storage once, parameters left out. One thread, plain f32, fused
AdamW, dropout off, attention through scaled_dot_product_attention.
"""
import json
import statistics
import time

from measure import expect_modules, parser_of

expect_modules(__doc__, "torch", "transformers")

import torch
import torch.nn.functional as F
from torch._functorch import config as functorch
from transformers import GPT2Config, GPT2LMHeadModel


def main():
    parser = parser_of(__doc__)
    for name, value in dict(layers=6, width=384, heads=6, vocab=256, seq_len=256, batch=8,
                            steps=6).items():
        parser.add_argument("--" + name.replace("_", "-"), type=int, default=value)
    parser.add_argument("--budget", type=float, required=True, help="0 to 1, of activations")
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    functorch.activation_memory_budget = args.budget
    config = GPT2Config(n_layer=args.layers, n_embd=args.width, n_head=args.heads,
                        vocab_size=args.vocab, n_positions=args.seq_len, attn_pdrop=0.0,
                        embd_pdrop=0.0, resid_pdrop=0.0, attn_implementation="sdpa",
                        use_cache=False, bos_token_id=0, eos_token_id=0)
    model = GPT2LMHeadModel(config)
    parameters = {p.untyped_storage().data_ptr() for p in model.parameters()}
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)

    @torch.compile
    def loss_of(inputs, labels):
        return F.cross_entropy(model(inputs).logits.flatten(0, 1), labels.flatten())

    kept = {}

    def keep(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in parameters:
            kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    seconds = []
    for step in range(args.steps):
        rows = torch.randint(args.vocab, (args.batch, args.seq_len + 1))
        begin = time.perf_counter()
        if step == 1:
            with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
                loss = loss_of(rows[:, :-1], rows[:, 1:])
        else:
            loss = loss_of(rows[:, :-1], rows[:, 1:])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        seconds.append(time.perf_counter() - begin)
    print(json.dumps({"seconds": statistics.median(seconds[2:]), "kept_bytes": sum(kept.values())}))


if __name__ == "__main__":
    main()
