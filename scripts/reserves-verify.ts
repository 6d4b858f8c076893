// Checks that the root counts the account's balance and, when a root hash is given, that the proof
// leads to that root.
import { readFileSync } from "node:fs";
import { getReservesProof } from "@/lib/contracts/reserves";
import { formatAmount } from "@/lib/core/money";
import { rootOf } from "@/lib/books/reserves/sum-trees";
import { defineCommand, type Output } from "./command";

const STDIN = 0;

const readProof = (path: string) => {
  try {
    return getReservesProof.response.parse(
      JSON.parse(readFileSync(path === "-" ? STDIN : path, "utf8")),
    );
  } catch (error) {
    throw new Error(
      `This is not a proof: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
};

const check = (path: string, expected: string | undefined, output: Output) => {
  const proof = readProof(path);
  const { assetId, accountId, salt, decimals, currency } = proof;
  const steps = proof.siblings.map(({ hash, sumBase, side }) => ({
    hash,
    sum: BigInt(sumBase),
    side,
  }));
  const reached = rootOf(
    { assetId, accountId, salt, balance: BigInt(proof.balanceBase) },
    steps,
  );
  const amount = (base: string): string =>
    `${formatAmount(BigInt(base), decimals)} ${currency}`;
  output.say(`account  ${accountId}: ${amount(proof.balanceBase)}`);
  output.say(
    `reached  ${reached.hash}, all accounts together ${amount(reached.sum.toString())}`,
  );
  output.say(`root     ${expected ?? proof.root.hash}, as of ${proof.asOf}`);
  const isCounted =
    reached.hash === proof.root.hash &&
    reached.sum.toString() === proof.root.sumBase &&
    (expected === undefined || reached.hash === expected.toLowerCase());
  return {
    isCounted,
    accountId,
    currency,
    balanceBase: proof.balanceBase,
    reached,
    root: expected ?? proof.root.hash,
    asOf: proof.asOf,
  };
};

export const command = defineCommand({
  positionals: { text: "FILE|- [ROOT_HASH]", min: 1, max: 2 },
  options: {},
  environment: ["none; `-` reads the proof from standard input, GET /reserves shows the root"],
  notDone: "the proof does not hold",
  run: ({ positionals: [file = "", expected], output }) => {
    const result = check(file, expected, output);
    output.say(result.isCounted ? "The account is counted." : "THE PROOF DOES NOT HOLD.");
    if (expected === undefined)
      output.say(
        "Compare the root with the one that GET /reserves shows, or give it as second argument.",
      );
    return Promise.resolve({ isDone: result.isCounted, result });
  },
});
