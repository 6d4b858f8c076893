// `npm run reserves:verify -- proof.json [root-hash]`: checks a proof of inclusion (GET
// /global-accounts/{id}/proof) without any access to the service. It checks that the root counts
// the account's balance and, when a root hash is given, that the proof leads to that root.
import { readFileSync } from "node:fs";
import { getReservesProof } from "@/lib/contracts/reserves";
import { formatAmount } from "@/lib/core/money";
import { rootOf } from "@/lib/books/reserves/sum-trees";

const [file, expected] = process.argv.slice(2);

const check = (path: string): boolean => {
  const proof = getReservesProof.response.parse(
    JSON.parse(readFileSync(path === "-" ? 0 : path, "utf8")),
  );
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
  console.log(`account  ${accountId}: ${amount(proof.balanceBase)}`);
  console.log(
    `reached  ${reached.hash}, all accounts together ${amount(reached.sum.toString())}`,
  );
  console.log(`root     ${expected ?? proof.root.hash}, as of ${proof.asOf}`);
  return (
    reached.hash === proof.root.hash &&
    reached.sum.toString() === proof.root.sumBase &&
    (expected === undefined || reached.hash === expected.toLowerCase())
  );
};

if (file === undefined) {
  console.error(
    "Name the file of a proof, or - for standard input, and the root's hash as GET /reserves shows it.",
  );
  process.exitCode = 2;
} else {
  try {
    const holds = check(file);
    console.log(holds ? "The account is counted." : "THE PROOF DOES NOT HOLD.");
    if (expected === undefined)
      console.log(
        "Compare the root with the one that GET /reserves shows, or give it as second argument.",
      );
    process.exitCode = holds ? 0 : 1;
  } catch (error) {
    console.error(
      `This is not a proof: ${error instanceof Error ? error.message : String(error)}`,
    );
    process.exitCode = 1;
  }
}
