import type { ChainRegistry } from "@/lib/chain/registry";
import { expandedSignature } from "@/lib/chain/signed-message";
import { recoverJsonTypedData, type JsonTypedData } from "@/lib/chain/typed-data";
import { DomainError, type ErrorDetail, isDomainError } from "@/lib/core/errors";
import type { SeenTransaction, SmartAccountsService } from "@/lib/chain/smart-accounts/service";
import type { NewLeg } from "@/lib/money/operations/service";
import type { RouteLeg } from "@/lib/money/ports/routing";
import type { OwnerLeg, PermitLeg, PreparedLeg, WalletLeg } from "@/lib/money/quotes/service";

type Hex = `0x${string}`;

/**
 * A wallet's result for an action: a signature over its typed data, or the hash of the transaction
 * that it sent.
 */
export interface GivenSignature {
  readonly actionId: string;
  readonly signature?: string | undefined;
  readonly txHash?: string | undefined;
}

export interface SignatureDeps {
  smartAccounts: SmartAccountsService;
  registry: ChainRegistry;
}

interface Signed {
  readonly leg: NewLeg;
  /** Whether the chain has every transaction of the leg. */
  readonly allSeen: boolean;
}

export interface AppliedSignatures {
  readonly legs: readonly NewLeg[];
  /**
   * True when wallets send all legs, and the chains have every transaction. The caller then does
   * not apply caps and deadlines, because an error could not undo the transactions.
   */
  readonly allSent: boolean;
}

const HASH = /^0x[0-9a-fA-F]{64}$/;

class Faults {
  private readonly details: ErrorDetail[] = [];

  add(actionId: string, code: string, message: string): null {
    this.details.push({ path: `signatures.${actionId}`, code, message });
    return null;
  }

  check(): void {
    if (this.details.length === 0) return;
    const missing = this.details.every(({ code }) => code === "missing");
    throw new DomainError(
      "invalid_signature",
      missing
        ? "Wallets of your own have to sign or send something first; each action that lacks it is in `details`. Nothing was sent."
        : "A signature or transaction is not of what was prepared; each one is in `details`. Nothing was recorded.",
      { details: this.details },
    );
  }
}

interface Work {
  readonly deps: SignatureDeps;
  readonly faults: Faults;
  readonly given: ReadonlyMap<string, GivenSignature>;
}

/**
 * The signature over the typed data. Null when the signature is missing, malformed or made by
 * another wallet; `faults` then has the reason.
 */
const signatureOf = async (
  { faults, given }: Work,
  action: { actionId: string; signer: Hex; typedData: JsonTypedData },
): Promise<Hex | null> => {
  const { actionId, signer, typedData } = action;
  const sent = given.get(actionId)?.signature;
  if (sent === undefined)
    return faults.add(actionId, "missing", `needs the signature of ${signer}`);
  const signature = expandedSignature(sent as Hex);
  const by = await recoverJsonTypedData(typedData, signature);
  if (by === null)
    return faults.add(actionId, "malformed", "is no signature of 65 or 64 bytes");
  if (by.toLowerCase() === signer.toLowerCase()) return signature;
  return faults.add(
    actionId,
    "wrong_signer",
    `is not the signature of ${signer} over exactly what was prepared`,
  );
};

const dateOf = (unixSeconds: number | null): Date | null =>
  unixSeconds === null ? null : new Date(unixSeconds * 1000);

const byOwner = async (
  work: Work,
  leg: OwnerLeg,
  routeLeg: RouteLeg,
): Promise<Signed | null> => {
  const signature = await signatureOf(work, leg.action);
  if (signature === null) return null;
  const validUntil = new Date(leg.validUntil * 1000);
  try {
    const operation = work.deps.smartAccounts.withSignature(
      leg.operation,
      validUntil,
      signature,
    );
    const { legId, gas, userOpHash, fromBlock } = leg;
    const signed = {
      operation,
      userOpHash,
      validUntil,
      fillDeadline: dateOf(leg.fillDeadline),
      fromBlock,
    };
    return { leg: { via: "user_operation", legId, routeLeg, gas, signed }, allSeen: true };
  } catch (error) {
    if (!isDomainError(error) || error.code !== "invalid_signature") throw error;
    return work.faults.add(leg.action.actionId, "malformed", error.message);
  }
};

const byPermit = async (
  work: Work,
  leg: PermitLeg,
  routeLeg: RouteLeg,
): Promise<Signed | null> => {
  const signature = await signatureOf(work, leg.action);
  if (signature === null) return null;
  const { legId, gas, executorWalletId, permit } = leg;
  const signed: NewLeg = {
    via: "permit",
    legId,
    routeLeg,
    gas,
    executorWalletId,
    permit: { ...permit, signature },
  };
  return { leg: signed, allSeen: true };
};

/** Returns how a transaction on the chain differs from the prepared one; null when it matches. */
const differenceOf = (
  seen: SeenTransaction,
  wanted: WalletLeg["transactions"][number],
  leg: WalletLeg,
): string | null => {
  const same = (one: string | null, other: string): boolean =>
    one?.toLowerCase() === other.toLowerCase();
  if (!same(seen.from, leg.wallet)) return `was sent by ${seen.from} and not by ${leg.wallet}`;
  if (!same(seen.to, wanted.to))
    return "goes to another contract or recipient than was prepared";
  if (seen.value !== wanted.value) return "carries another value than was prepared";
  if (!same(seen.data, wanted.data)) return "does something else than was prepared";
  if (seen.nonce < leg.fromNonce) return "was sent before this was prepared";
  return null;
};

type SentTransaction = Extract<NewLeg, { via: "transaction" }>["transactions"][number];

const sentTransaction = async (
  { deps, faults, given }: Work,
  wanted: WalletLeg["transactions"][number],
  leg: WalletLeg,
): Promise<SentTransaction | null> => {
  const { actionId, to, data, value } = wanted;
  const hash = given.get(actionId)?.txHash;
  if (hash === undefined)
    return faults.add(
      actionId,
      "missing",
      `needs the hash of the transaction of ${leg.wallet}`,
    );
  if (!HASH.test(hash))
    return faults.add(actionId, "malformed", "is no transaction hash of 32 bytes");
  const { sent } = deps.smartAccounts;
  const seen = await sent.find(leg.chainId, hash as Hex);
  if (seen === null) {
    const elsewhere = await chainOf(deps, leg, hash as Hex);
    if (elsewhere !== null)
      return faults.add(actionId, "wrong_transaction", `was sent on ${elsewhere}`);
    // A transaction that no node shows is accepted, because nodes get transactions at different
    // times. The leg is followed until the transaction appears or can no longer be mined.
    return { actionId, to, data, value, hash: hash as Hex, nonce: null };
  }
  const difference = differenceOf(seen, wanted, leg);
  if (difference !== null) return faults.add(actionId, "wrong_transaction", difference);
  if (
    seen.blockNumber !== null &&
    (await sent.receipt(leg.chainId, hash as Hex))?.success === false
  ) {
    return faults.add(
      actionId,
      "reverted",
      "was refused by the chain; what it was to move is still in the wallet",
    );
  }
  return { actionId, to, data, value, hash: hash as Hex, nonce: seen.nonce };
};

/** The name of another chain that has the transaction; null when no chain has it. */
const chainOf = async (
  { smartAccounts, registry }: SignatureDeps,
  leg: WalletLeg,
  hash: Hex,
): Promise<string | null> => {
  const others = registry.list().filter(({ id }) => id !== leg.chainId);
  const answers = await Promise.all(
    others.map(({ id }) => smartAccounts.sent.find(id, hash).catch(() => null)),
  );
  return others.find((_, index) => answers[index] !== null)?.name ?? null;
};

const byWallet = async (
  work: Work,
  leg: WalletLeg,
  routeLeg: RouteLeg,
): Promise<Signed | null> => {
  const found = await Promise.all(
    leg.transactions.map((wanted) => sentTransaction(work, wanted, leg)),
  );
  const transactions = found.filter((each) => each !== null);
  if (transactions.length !== found.length) return null;
  if (
    new Set(transactions.map(({ hash }) => hash.toLowerCase())).size !== transactions.length
  ) {
    return work.faults.add(
      transactions[0]?.actionId ?? leg.legId,
      "given_twice",
      "names the same transaction as another",
    );
  }
  const { legId, chainId, fromNonce, fromBlock } = leg;
  return {
    leg: {
      via: "transaction",
      legId,
      routeLeg,
      chainId,
      transactions,
      fromNonce,
      fromBlock,
      validUntil: dateOf(leg.validUntil),
      fillDeadline: dateOf(leg.fillDeadline),
    },
    allSeen: transactions.every(({ nonce }) => nonce !== null),
  };
};

const signLeg = (work: Work, leg: PreparedLeg, routeLeg: RouteLeg): Promise<Signed | null> => {
  switch (leg.by) {
    case "service": {
      const { legId, gas } = leg;
      return Promise.resolve({
        leg: { via: "user_operation", legId, routeLeg, gas },
        allSeen: true,
      });
    }
    case "owner":
      return byOwner(work, leg, routeLeg);
    case "permit":
      return byPermit(work, leg, routeLeg);
    case "wallet":
      return byWallet(work, leg, routeLeg);
  }
};

const actionIdsOf = (leg: PreparedLeg): string[] => {
  switch (leg.by) {
    case "service":
      return [];
    case "owner":
    case "permit":
      return [leg.action.actionId];
    case "wallet":
      return leg.transactions.map(({ actionId }) => actionId);
  }
};

const givenBy = (
  faults: Faults,
  signatures: readonly GivenSignature[],
  known: ReadonlySet<string>,
) => {
  const given = new Map<string, GivenSignature>();
  for (const signature of signatures) {
    const { actionId } = signature;
    if (!known.has(actionId))
      faults.add(actionId, "unknown_action", "is no action of what was prepared last");
    else if (given.has(actionId)) faults.add(actionId, "given_twice", "is given twice");
    else given.set(actionId, signature);
  }
  return given;
};

/**
 * Checks that the expected wallet performed every action, and that each action matches the
 * preparation. Returns the legs in the form in which an operation accepts them, in the order of the
 * route. Sends and stores nothing.
 * @throws DomainError `invalid_signature`, with every wrong action in `details` as
 * `signatures.<actionId>`; `chain_unavailable`
 */
export const applySignatures = async (
  deps: SignatureDeps,
  input: {
    readonly legs: readonly PreparedLeg[];
    readonly routeLegs: readonly RouteLeg[];
    readonly signatures: readonly GivenSignature[];
  },
): Promise<AppliedSignatures> => {
  const faults = new Faults();
  const known = new Set(input.legs.flatMap(actionIdsOf));
  const work: Work = { deps, faults, given: givenBy(faults, input.signatures, known) };
  const signed = await Promise.all(
    input.routeLegs.map((routeLeg, index) => {
      const prepared = input.legs[index];
      if (prepared === undefined)
        throw new Error("The quote was prepared with fewer legs than its route has.");
      return signLeg(work, prepared, routeLeg);
    }),
  );
  faults.check();
  const complete = signed.filter((each) => each !== null);
  return {
    legs: complete.map(({ leg }) => leg),
    allSent:
      input.legs.every(({ by }) => by === "wallet") && complete.every(({ allSeen }) => allSeen),
  };
};
