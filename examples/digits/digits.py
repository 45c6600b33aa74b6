"""Trains a classifier of handwritten digits; digits.cpp is the same program in C++, and prints the
same losses.

    python digits.py [path to digits.txt]
"""

import sys
from pathlib import Path

import oploom
from oploom import nn
from tqdm import tqdm

HIDDEN, CLASSES = 128, 10
EPOCHS, BATCH, HELD_OUT = 30, 64, 360
SEED = 0
DATA = Path(__file__).resolve().parent.parent / "data" / "digits.txt"


def read_digits(path):
    """Returns the images, [n, 64] float32 in [0, 1], and the labels, [n] int64."""
    lines = [line.split() for line in Path(path).read_text().splitlines()]
    images = oploom.tensor([[int(pixel, 17) / 16 for pixel in image] for image, _ in lines])
    labels = oploom.tensor([int(label) for _, label in lines])
    return images, labels


def main():
    oploom.manual_seed(SEED)
    images, labels = read_digits(sys.argv[1] if len(sys.argv) > 1 else DATA)
    order = oploom.randperm(len(labels))
    train, held_out = order[:-HELD_OUT], order[-HELD_OUT:]

    model = nn.Sequential(
        nn.Linear(images.shape[1], HIDDEN),
        nn.ReLU(),
        nn.Linear(HIDDEN, CLASSES),
    )
    optimizer = oploom.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    loss_of = nn.CrossEntropyLoss()

    epochs = tqdm(range(1, EPOCHS + 1), desc="training", disable=not sys.stderr.isatty())
    for epoch in epochs:
        total = 0.0
        for batch in train[oploom.randperm(len(train))].split(BATCH):
            loss = loss_of(model(images[batch]), labels[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(batch)
        epochs.set_postfix(loss=f"{total / len(train):.4f}")
        if epoch % 5 == 0:
            tqdm.write(f"epoch {epoch:2d}  loss {total / len(train):.4f}")

    with oploom.no_grad():
        right = model(images[held_out]).argmax(1) == labels[held_out]
    accuracy = 100 * right.to(oploom.float64).mean().item()
    print(f"accuracy on {HELD_OUT} held-out images: {accuracy:.2f} %")


if __name__ == "__main__":
    main()
