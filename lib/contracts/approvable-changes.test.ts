import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { contracts } from "./all";
import {
  APPROVABLE_CHANGES,
  MONEY_PROOFS,
  PROOFS,
  proofsOf,
  type ChangeKind,
  type Proof,
} from "./approvable-changes";

const IN_WORDS: Readonly<Record<Proof, string>> = {
  code: "mailed code",
  totp: "authenticator app",
  passkey: "passkey",
  signature: "wallet signature",
  recovery_code: "recovery code",
};

const rowOf = ({
  does,
  proofs,
}: {
  readonly does: string;
  readonly proofs: readonly Proof[];
}): string => {
  const marks = PROOFS.map((proof) => (proofs.includes(proof) ? "yes" : "–"));
  return `| ${does} | ${marks.join(" | ")} |`;
};

/** The table of docs/security.md. */
const documented = (): string =>
  [
    `| Change | ${PROOFS.map((proof) => IN_WORDS[proof]).join(" | ")} |`,
    `| --- |${PROOFS.map(() => " --- |").join("")}`,
    ...[...Object.values(APPROVABLE_CHANGES), ...Object.values(MONEY_PROOFS)].map(rowOf),
  ].join("\n");

test("docs/security.md has the table of changes and their proofs", () => {
  expect(readFileSync("docs/security.md", "utf8")).toContain(documented());
});

test("nothing that moves money, or hands out a key, takes a recovery code", () => {
  const factors: readonly ChangeKind[] = [
    "email.add",
    "email.replace",
    "passkey.add",
    "passkey.remove",
    "totp.remove",
  ];
  for (const kind of Object.keys(APPROVABLE_CHANGES) as ChangeKind[])
    expect([kind, proofsOf(kind).includes("recovery_code")]).toEqual([
      kind,
      factors.includes(kind),
    ]);
});

const FIELDS: Readonly<Record<Proof, string>> = {
  code: "otp",
  totp: "totp",
  passkey: "passkey",
  signature: "signature",
  recovery_code: "recoveryCode",
};

const fieldsOf = (contract: (typeof contracts)[number]): readonly string[] => {
  const shape = (contract.body as { readonly shape?: object } | undefined)?.shape ?? {};
  return Object.keys(shape);
};

test("requests that carry a proof themselves take those of the table, and no recovery code", () => {
  // The field `otp` of an API key is its policy; a proof has `totp` beside it.
  const carrying = contracts.filter((contract) => fieldsOf(contract).includes("totp"));
  expect(carrying.length).toBeGreaterThan(5);
  const allowed = [MONEY_PROOFS.payment, MONEY_PROOFS.vote].map(({ proofs }) =>
    (proofs as readonly Proof[]).map((proof) => FIELDS[proof]).sort(),
  );
  for (const contract of carrying) {
    const proofs = Object.values(FIELDS).filter((field) => fieldsOf(contract).includes(field));
    expect([contract.path, allowed]).toEqual([
      contract.path,
      expect.arrayContaining([proofs.sort()]),
    ]);
  }
});
