/** Pure decisions about addresses that receive money, or that are stored in order to be paid. */
import type { RecipientWarningCode } from "@/lib/contracts/warnings";
import { createLookAlikes, type KnownAddress } from "@/lib/core/look-alike";
import type { EvmAddress } from "@/lib/core/evm";

export interface Recipient {
  readonly path: string;
  readonly address: EvmAddress;
}

export interface RecipientWarning {
  readonly code: RecipientWarningCode;
  readonly path: string;
  readonly message: string;
}

/** Kind of code at an address of a chain. `token` answers like an ERC-20 token. */
export type CodeKind = "none" | "contract" | "token";

/**
 * For addresses of one chain, the kind of their code. Addresses are missing if they were not read
 * in time. `isPaid` is true when recipients are paid on this chain.
 */
export interface ChainCodes {
  readonly chainId: number;
  readonly name: string;
  readonly isPaid: boolean;
  readonly codes: ReadonlyMap<EvmAddress, CodeKind>;
}

/** The facts about the recipients of a request. Facts that did not arrive in time are missing. */
export interface RecipientFacts {
  readonly known: readonly KnownAddress[];
  /** Addresses that the same request stores as proposed contacts. */
  readonly drafts?: readonly EvmAddress[];
  /**
   * Addresses that the project controls on every chain: its wallets, whose code the service or
   * their owner can deploy anywhere.
   */
  readonly own: ReadonlySet<EvmAddress>;
  readonly chains: readonly ChainCodes[];
  /**
   * For each listed address, why a screening source stops it, in words that continue a sentence.
   */
  readonly listed: ReadonlyMap<EvmAddress, string>;
  /** For each frozen address, the symbols of the tokens whose issuers have frozen it. */
  readonly frozen: ReadonlyMap<EvmAddress, readonly string[]>;
  /** Addresses without a known payment of the project. */
  readonly unpaid: ReadonlySet<EvmAddress>;
}

export const WARNINGS_MAX = 100;

/** Names an address of the same request inside a sentence. */
const DRAFT = "another address of this request";

const joined = (names: readonly string[]): string => names.join(", ");

/**
 * A chain on which the address is a contract (`there`), and the chains on which it is to be paid
 * but has no code (`missing`), by their names. Null unless there are both.
 */
const elsewhere = (
  address: EvmAddress,
  chains: readonly ChainCodes[],
): { there: string; missing: string } | null => {
  const hasCode = ({ codes }: ChainCodes): boolean => (codes.get(address) ?? "none") !== "none";
  const there = chains.find(hasCode);
  const missing = chains.filter((chain) => chain.isPaid && !hasCode(chain));
  if (there === undefined || missing.length === 0) return null;
  return { there: there.name, missing: joined(missing.map(({ name }) => name)) };
};

const first = (unpaid: readonly Recipient[], total: number): readonly RecipientWarning[] => {
  const [one] = unpaid;
  if (one === undefined) return [];
  const message =
    total === 1
      ? `No earlier payment of the project to ${one.address} is known. Compare the whole address with its owner's before you pay it.`
      : `${String(unpaid.length)} of ${String(total)} recipients are paid for the first time, ${one.address} the first of them. Compare their whole addresses with their owners'.`;
  return [{ code: "first_payment", path: one.path, message }];
};

/**
 * The warnings in the order of the recipients, at most `max`. The warning about first payments is
 * the last one.
 */
export const warningsAbout = (
  recipients: readonly Recipient[],
  facts: RecipientFacts,
  max = WARNINGS_MAX,
): RecipientWarning[] => {
  const lookAlikeOf = createLookAlikes(facts.known);
  const draftLike = createLookAlikes(
    (facts.drafts ?? []).map((address) => ({ address, name: DRAFT, as: "proposed" })),
  );
  const about = ({ path, address }: Recipient): RecipientWarning[] => {
    const found: RecipientWarning[] = [];
    const warn = (code: RecipientWarningCode, message: string): void =>
      void found.push({ code, path, message });
    const listed = facts.listed.get(address);
    if (listed !== undefined)
      warn("recipient_listed", `${address} ${listed}, so payments to it are stopped.`);
    const frozen = facts.frozen.get(address);
    if (frozen !== undefined)
      warn(
        "recipient_frozen",
        `${address} is frozen by the issuer of ${joined(frozen)}, which cannot arrive there.`,
      );
    const token = facts.chains.find(
      ({ isPaid, codes }) => isPaid && codes.get(address) === "token",
    );
    if (token !== undefined)
      warn(
        "token_contract",
        `${address} is the contract of a token on ${token.name}: money sent there is usually lost.`,
      );
    const similar = lookAlikeOf(address) ?? draftLike(address);
    if (similar !== null)
      warn(
        "lookalike_recipient",
        `${address} begins and ends like ${similar.address} (${similar.name}), and is another address. Such addresses are made to be copied by mistake.`,
      );
    const other = facts.own.has(address) ? null : elsewhere(address, facts.chains);
    if (other !== null)
      warn(
        "code_elsewhere",
        `${address} is a contract on ${other.there} and not on ${other.missing}: whoever holds it there may not be able to use it here.`,
      );
    return found;
  };
  // Each address once, with the first field that contains it.
  const seen = new Set<EvmAddress>();
  const named = recipients.filter(({ address }) => !seen.has(address) && seen.add(address));
  const last = first(
    named.filter(({ address }) => facts.unpaid.has(address)),
    named.length,
  );
  const warnings: RecipientWarning[] = [];
  for (const recipient of recipients) {
    if (warnings.length >= max) break;
    warnings.push(...about(recipient));
  }
  return [...warnings.slice(0, max - last.length), ...last];
};
