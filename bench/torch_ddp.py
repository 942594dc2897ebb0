#!/usr/bin/env python3
"""The other side of vs_torch.py: a GPT-2 under PyTorch's DistributedDataParallel, one thread a rank.

Prints one JSON object: median seconds of a step (the first two left out), the peak resident bytes of
rank 0 less those before the model was built, and the losses. The recipe is plain f32: fused AdamW,
clipping at 1.0, dropout off, attention through scaled_dot_product_attention.
"""
import json
import os
import resource
import socket
import statistics
import time

from measure import expect_modules, parser_of

expect_modules(__doc__, "torch", "transformers")

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn.functional as F
from transformers import GPT2Config, GPT2LMHeadModel


def peak_bytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def batches(path, rank, args):
    """Sequences at random places of a file of bytes: the inputs, and the same one byte later."""
    tokens = torch.frombuffer(bytearray(open(path, "rb").read()), dtype=torch.uint8)
    generator = torch.Generator().manual_seed(rank)
    while True:
        starts = torch.randint(len(tokens) - args.seq_len, (args.batch,), generator=generator)
        rows = torch.stack([tokens[i:i + args.seq_len + 1] for i in starts.tolist()]).long()
        yield rows[:, :-1], rows[:, 1:]


def train(rank, port, args):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank,
                            world_size=args.ranks)
    before = peak_bytes()
    torch.manual_seed(0)
    config = GPT2Config(n_layer=args.layers, n_embd=args.width, n_head=args.heads,
                        vocab_size=args.vocab, n_positions=args.seq_len, attn_pdrop=0.0,
                        embd_pdrop=0.0, resid_pdrop=0.0, attn_implementation="sdpa",
                        use_cache=False, bos_token_id=0, eos_token_id=0)
    model = torch.nn.parallel.DistributedDataParallel(GPT2LMHeadModel(config),
                                                      gradient_as_bucket_view=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, betas=(0.9, 0.95),
                                  weight_decay=0.1, fused=True)
    seconds, losses = [], []
    data = batches(args.data, rank, args)
    for _ in range(args.steps):
        inputs, labels = next(data)
        begin = time.perf_counter()
        logits = model(inputs).logits
        loss = F.cross_entropy(logits.flatten(0, 1), labels.flatten())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        losses.append(loss.item())
        seconds.append(time.perf_counter() - begin)
    if rank == 0:
        print(json.dumps({"seconds": statistics.median(seconds[2:]),
                          "peak_bytes": peak_bytes() - before, "losses": losses}), flush=True)
    dist.barrier()
    dist.destroy_process_group()


def main():
    parser = parser_of(__doc__)
    for name, value in dict(ranks=2, layers=6, width=384, heads=6, vocab=256, seq_len=256, batch=8,
                            steps=10).items():
        parser.add_argument("--" + name.replace("_", "-"), type=int, default=value)
    parser.add_argument("--lr", type=float, default=3e-4)
    parser.add_argument("--data", required=True, help="a file of bytes to train on")
    args = parser.parse_args()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    mp.spawn(train, (port, args), nprocs=args.ranks)


if __name__ == "__main__":
    main()
