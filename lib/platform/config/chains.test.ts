import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { chainsFile } from "./chains";

interface LooseFile {
  readonly chains: { tokens: { symbol: string; address: string }[] }[];
}

const local = (): LooseFile =>
  JSON.parse(readFileSync("lib/platform/config/chains/local.json", "utf8")) as LooseFile;
const problems = (file: LooseFile): string[] =>
  chainsFile
    .safeParse(file)
    .error?.issues.map(({ path, message }) => `${path.join(".")}: ${message}`) ?? [];

test("the chains that come with the program have no token twice", () => {
  expect(problems(local())).toEqual([]);
});

test.each([
  ["symbol", (usdc: string) => usdc.toLowerCase()],
  ["address", (usdc: string) => usdc],
] as const)(
  "two tokens of a chain with the same %s are refused, because requests name tokens by it",
  (field, same) => {
    const file = local();
    const [first, second] =
      file.chains[0]?.tokens.filter(({ address }) => address !== "native") ?? [];
    if (first === undefined || second === undefined)
      throw new Error("The chain has fewer than two tokens.");
    second[field] = same(first[field]);
    expect(problems(file)).toEqual([expect.stringContaining("is another token's, too")]);
  },
);
