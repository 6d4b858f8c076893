/** The parameters of an operation: the data that its evaluation is bound to, and that the signer compares. */
import { createHash } from "node:crypto";
import type { SignedPermit } from "@/lib/modules/smart-accounts/service";
import { asStoredRouteLeg, type Leg } from "./leg";
import { asStoredRequest, type Operation } from "./operation";

/** JSON with sorted keys, so that a row that was stored and read again has the same text. */
const canonical = (value: unknown): string => {
  if (typeof value === "bigint") return JSON.stringify(value.toString());
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value ?? null);
  const entries = Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join(",")}}`;
};

/** Addresses and bytes mean the same in upper and lower case, so their case must not change the digest. */
const lowerCased = (permit: SignedPermit): object =>
  Object.fromEntries(
    Object.entries(permit).map(([name, value]) => [name, typeof value === "string" ? value.toLowerCase() : value]),
  );

// A leg's executor, permit and route never change once it is accepted; its state, hashes and figures do.
const legParameters = (leg: Leg): object => ({
  id: leg.id,
  position: leg.position,
  walletId: leg.walletId,
  walletAddress: leg.walletAddress.toLowerCase(),
  executorWalletId: leg.executorWalletId,
  sourceChainId: leg.sourceChainId,
  destChainId: leg.destChainId,
  via: leg.via,
  amountBase: leg.amountBase,
  permit: leg.permit === null ? null : lowerCased(leg.permit),
  routeLeg: asStoredRouteLeg(leg.routeLeg),
});

/** SHA-256 of everything that decides what is signed: wallets, chains, tokens, amounts, the route and the recipient. */
export const parametersDigest = (
  operation: Pick<Operation, "id" | "projectId" | "kind" | "request">,
  legs: readonly Leg[],
): Uint8Array<ArrayBuffer> => {
  const { id, projectId, kind } = operation;
  const request = asStoredRequest(operation.request);
  const ordered = [...legs].sort((a, b) => a.position - b.position);
  const text = canonical({ id, projectId, kind, request, legs: ordered.map(legParameters) });
  return new Uint8Array(createHash("sha256").update(text).digest());
};
