/** The movement that somebody asks for, before the facts of the database and the prices are known. */
import { actorName, type Actor } from "@/lib/core/actor";
import { isId } from "@/lib/core/ids";
import { worthOf } from "@/lib/core/decimal";
import { formatAmount } from "@/lib/core/money";
import type { Token } from "@/lib/core/token";
import type { RouteRequest } from "@/lib/ports/routing";
import type { ScreenedAddress } from "@/lib/ports/screening";
import type { EffectivePolicy, FactFields, Facts, Movement } from "./facts";
import { countedBy, usageOf } from "./sums";
import type { UsageKey } from "./repository";

/** Money that shall leave a wallet, a private wallet or an account of the ledger. */
export interface Outflow {
  readonly walletId: string | null;
  /** The token, or for an account of the ledger any token of its asset, which only prices it. */
  readonly token: Token;
  readonly amountBase: bigint;
  /** Decimals of `amountBase`, where they are not the token's. */
  readonly decimals?: number;
  /** False: an account of the ledger; no chain is touched. */
  readonly isOnChain: boolean;
  /** In whose caps and limits its amount counts; by default in all. */
  readonly countsIn?: Movement["countsIn"];
}

export interface Intent {
  readonly projectId: string;
  readonly kind: string;
  /** The person or API key that moves it, for the record. */
  readonly by: string;
  readonly keyIds: readonly string[];
  readonly outflows: readonly Outflow[];
  /** Every chain that is touched. */
  readonly chains: readonly number[];
  /** Checksummed addresses that are paid. */
  readonly recipients: readonly string[];
  /** Addresses to screen; absent: the recipients. */
  readonly parties?: readonly ScreenedAddress[];
  /** The fields of the request that name a recipient, where there are several. */
  readonly recipientPaths?: (address: string) => readonly string[];
  readonly fields: FactFields;
}

/** Every wallet that a route takes money from, and the address that it pays. */
export const partiesOf = ({ sources, destination }: RouteRequest): ScreenedAddress[] => [
  ...sources.map(({ owner, token }) => ({ address: owner, chainId: token.chainId })),
  { address: destination.recipient, chainId: destination.token.chainId },
];

const FIELDS: FactFields = { amount: "amount", recipient: "toAddress", chain: "toChainId", token: "token" };

/**
 * The fields that requests of a kind name differently. They depend on the kind alone, so that a refusal at acceptance names the same field as
 * one before pricing.
 */
const FIELDS_OF_KIND: Readonly<Record<string, Partial<FactFields>>> = {
  swap: { token: "from" },
  swap_and_transfer: { recipient: "recipient", token: "fromToken" },
  shield: { chain: "chainId" },
};

/** The keys among those who asked for a movement, so that the policy of a key also bounds what a person carries out for it. */
export const keysAmong = (...names: readonly string[]): string[] => [
  ...new Set(names.filter((name) => isId("apiKey", name))),
];

/** The intent of a route: a swap, a transfer, a shield. @param wallets of the sources, in their order */
export const routeIntent = (
  actor: Actor,
  input: {
    readonly kind: string;
    readonly request: RouteRequest;
    readonly wallets: readonly { readonly id: string }[];
    /** Who made the quote. */
    readonly createdBy?: string;
    readonly fields?: Partial<FactFields>;
    /** False: the recipient is a contract that holds the money for the project. */
    readonly paysRecipient?: boolean;
  },
): Intent => {
  const { kind, request, wallets, createdBy, fields, paysRecipient = true } = input;
  const by = actorName(actor);
  const { sources, destination } = request;
  return {
    projectId: actor.projectId,
    kind,
    by,
    keyIds: keysAmong(by, ...(createdBy === undefined ? [] : [createdBy])),
    outflows: sources.map(({ token, amountBase }, index) => ({
      walletId: wallets[index]?.id ?? null,
      token,
      amountBase,
      isOnChain: true,
    })),
    chains: [...new Set([...sources.map(({ token }) => token.chainId), destination.token.chainId])],
    recipients: paysRecipient ? [destination.recipient] : [],
    parties: partiesOf(request),
    fields: { ...FIELDS, ...FIELDS_OF_KIND[kind], ...fields },
  };
};

/** Whether a rule of one of the policies compares US dollars. */
export const comparesUsd = (policies: readonly Pick<EffectivePolicy, "rules">[]): boolean =>
  policies.some(
    ({ rules: { perOperation, perDay, code, approvals } }) =>
      perOperation?.usd !== undefined ||
      perDay?.usd !== undefined ||
      (code !== undefined && code.mode !== "always") ||
      approvals !== undefined,
  );

export const looksAtRecipients = (policies: readonly Pick<EffectivePolicy, "rules">[]): boolean =>
  policies.some(({ rules }) => rules.recipients === "approved_contacts" || rules.newRecipientHours !== undefined);

const USD_DECIMALS = 6;

/** @param prices by outflow, in US dollars; null without one */
export const movementsWith = (outflows: readonly Outflow[], prices: readonly (string | null)[]): Movement[] =>
  outflows.map(({ walletId, token, amountBase, decimals = token.decimals, isOnChain, countsIn = "all" }, index) => {
    const price = prices[index] ?? null;
    const usd = price === null ? null : worthOf({ amountBase, decimals, price }, USD_DECIMALS, "ceil");
    return {
      walletId,
      chainId: isOnChain ? token.chainId : null,
      token: isOnChain ? token.address.toLowerCase() : null,
      asset: token.assetId,
      amount: formatAmount(amountBase, decimals),
      countsIn,
      usd: usd === null ? null : formatAmount(usd, USD_DECIMALS),
    };
  });

/** The rows of the day's usage that the policies count in, and the amount that the movement adds to each. */
export const usageAdded = (
  policies: readonly EffectivePolicy[],
  { movements }: Pick<Facts, "movements">,
): (UsageKey & { readonly adds: bigint })[] =>
  policies.flatMap((policy) =>
    usageOf(policy, countedBy(policy, movements)).map(({ unit, adds }) => ({
      scope: policy.scope,
      subjectId: policy.subjectId,
      unit,
      adds,
    })),
  );
