import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { extendTailwindMerge } from "tailwind-merge";
import { expect, test } from "vitest";
import { cn } from "./cn";

const merge = extendTailwindMerge({
  extend: {
    theme: {
      radius: ["tag", "control", "card", "dialog"],
      text: ["xs", "sm", "base", "lg", "xl", "2xl", "3xl"],
    },
  },
});

const sources = ["app", "components"].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => /(?<!\.test|\bcn)\.tsx?$/.test(file))
    .map((file) => readFileSync(join(folder, file), "utf8")),
);

/** Everything in quotes that may be a class, without its variants. */
const utilities = [
  ...new Set(
    sources
      .flatMap((source) =>
        [...source.matchAll(/["`}]([^"`\n]*?)(?=["`]|\$\{)/g)].flatMap(([, text = ""]) =>
          text.split(/\s+/),
        ),
      )
      .map((word) => word.slice(word.lastIndexOf(":") + 1).replace(/^!|!$/g, ""))
      .filter((word) => /^-?[a-z][\w[\]/.%(),-]*$/.test(word)),
  ),
]
  // Utilities that Tailwind has: the later one of two equal ones remains.
  .filter((word) => merge(`${word} other ${word}`) === `other ${word}`);

test("of two classes of the code the same ones win as with tailwind-merge", () => {
  expect(utilities.length).toBeGreaterThan(400);
  const different = utilities.flatMap((first) =>
    utilities.flatMap((second) => {
      const text = `${first} ${second}`;
      return first === second || cn(text) === merge(text)
        ? []
        : [`${text} → ${cn(text)}, not ${merge(text)}`];
    }),
  );
  expect(different).toEqual([]);
});

test.each([
  [["px-2", "px-4"], "px-4"],
  [["px-2", false, "md:px-4"], "px-2 md:px-4"],
  [["max-md:px-2!", "max-md:px-4"], "max-md:px-2! max-md:px-4"],
  [["[&_a]:px-2", "[&_a]:p-1"], "[&_a]:p-1"],
  [["num", "link", "num"], "num link num"],
])("%j become %j", (classes, joined) => {
  expect(cn(classes)).toBe(joined);
});
