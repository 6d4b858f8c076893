/**
 * The movement that a caller requests, before the facts of the database and the prices are known.
 */
import { type Actor, actorName } from "@/lib/core/actor";
import { isId } from "@/lib/core/ids";
import { movementKind } from "@/lib/core/movement-kinds";
import { worthOf } from "@/lib/core/decimal";
import { formatAmount } from "@/lib/core/money";
import type { Token } from "@/lib/core/token";
import type { RouteRequest } from "@/lib/core/route-request";
import type { ScreenedAddress } from "@/lib/trust/ports/screening";
import {
  countedBy,
  type EffectivePolicy,
  type FactFields,
  type Facts,
  type Movement,
  usageOf,
} from "./facts";
import type { UsageKey } from "./repository";

/** Money that is to leave a wallet, a private wallet or a ledger account. */
export interface Outflow {
  readonly walletId: string | null;
  /** The token. For a ledger account it is any token of the asset, used only for the price. */
  readonly token: Token;
  readonly amountBase: bigint;
  /** Decimals of `amountBase`, when they differ from the token's. */
  readonly decimals?: number;
  /** False for an account of the ledger, which uses no chain. */
  readonly isOnChain: boolean;
  /** The caps and limits in which the amount counts; by default all. */
  readonly countsIn?: Movement["countsIn"];
}

export interface Intent {
  readonly projectId: string;
  readonly kind: string;
  /** The person or API key that moves the money; stored with the evaluation. */
  readonly by: string;
  readonly keyIds: readonly string[];
  /** Whether `by` is an API key that is exempt from codes. */
  readonly byExemptKey: boolean;
  /**
   * True when every wallet signs for itself. The project's vote setting does not apply to such
   * wallets, because they can move their money without the service.
   */
  readonly isSelfSigned?: boolean;
  readonly outflows: readonly Outflow[];
  readonly chains: readonly number[];
  /**
   * Checksummed addresses that receive money, and ids of private wallets whose mnemonic was shown.
   */
  readonly recipients: readonly string[];
  /**
   * The chain on which the recipients are paid, because contacts are approved per chain; null when
   * none of them is on a chain.
   */
  readonly recipientChain: number | null;
  /** Addresses to screen; the recipients when absent. */
  readonly parties?: readonly ScreenedAddress[];
  /**
   * Returns the fields of the request that name a recipient's address. Absent when every recipient
   * has the same field.
   */
  readonly recipientPaths?: (address: string) => readonly string[];
  readonly fields: FactFields;
}

/** Every wallet from which a route takes money, and the address that it pays. */
export const partiesOf = ({ sources, destination }: RouteRequest): ScreenedAddress[] => [
  ...sources.map(({ owner, token }) => ({ address: owner, chainId: token.chainId })),
  { address: destination.recipient, chainId: destination.token.chainId },
];

const FIELDS: FactFields = {
  amount: "amount",
  recipient: "toAddress",
  chain: "toChainId",
  token: "token",
};

/**
 * The ids of API keys among `names`, the ids of the actors who requested a movement. The policies
 * of these keys also limit a movement that a person carries out.
 */
export const keysAmong = (...names: readonly string[]): string[] => [
  ...new Set(names.filter((name) => isId("apiKey", name))),
];

export const isExemptKey = (actor: Actor): boolean =>
  actor.type === "apiKey" && actor.policy.otp === "exempt";

/**
 * The intent of a route: a swap, a transfer or a shield.
 * @param wallets the wallets of the sources, in the same order
 */
export const routeIntent = (
  actor: Actor,
  input: {
    readonly kind: string;
    readonly request: RouteRequest;
    readonly wallets: readonly { readonly id: string; readonly keyId: string | null }[];
    readonly createdBy?: string;
    readonly fields?: Partial<FactFields>;
    /**
     * Default: the destination's address. Empty when the destination is a contract that holds the
     * money for the project.
     */
    readonly recipients?: readonly string[];
  },
): Intent => {
  const {
    kind,
    request,
    wallets,
    createdBy,
    fields,
    recipients = [request.destination.recipient],
  } = input;
  const by = actorName(actor);
  const { sources, destination } = request;
  return {
    projectId: actor.projectId,
    kind,
    by,
    keyIds: keysAmong(by, ...(createdBy === undefined ? [] : [createdBy])),
    byExemptKey: isExemptKey(actor),
    isSelfSigned: wallets.length > 0 && wallets.every(({ keyId }) => keyId === null),
    outflows: sources.map(({ token, amountBase }, index) => ({
      walletId: wallets[index]?.id ?? null,
      token,
      amountBase,
      isOnChain: true,
    })),
    chains: [
      ...new Set([...sources.map(({ token }) => token.chainId), destination.token.chainId]),
    ],
    recipients,
    recipientChain: destination.token.chainId,
    parties: partiesOf(request),
    // The field names depend only on the kind, so that a movement refused at acceptance names the
    // same field as a movement refused before pricing.
    fields: { ...FIELDS, ...movementKind(kind)?.fields, ...fields },
  };
};

/** Whether votes are needed for every amount, so that the worth does not matter. */
const isAlways = ({ aboveUsd }: { readonly aboveUsd: string }): boolean =>
  !/[1-9]/.test(aboveUsd);

export const comparesUsd = (policies: readonly Pick<EffectivePolicy, "rules">[]): boolean =>
  policies.some(
    ({ rules: { perOperation, perDay, code, approvals } }) =>
      perOperation?.usd !== undefined ||
      perDay?.usd !== undefined ||
      (code !== undefined && code.mode !== "always") ||
      (approvals !== undefined && !isAlways(approvals)),
  );

export const looksAtRecipients = (
  policies: readonly Pick<EffectivePolicy, "rules">[],
): boolean =>
  policies.some(
    ({ rules }) =>
      rules.recipients === "approved_contacts" ||
      rules.newRecipientHours !== undefined ||
      rules.screening === "require_clear",
  );

const USD_DECIMALS = 6;

/** @param prices one price in US dollars per outflow; null when there is none */
export const movementsWith = (
  outflows: readonly Outflow[],
  prices: readonly (string | null)[],
): Movement[] =>
  outflows.map(
    (
      { walletId, token, amountBase, decimals = token.decimals, isOnChain, countsIn = "all" },
      index,
    ) => {
      const price = prices[index] ?? null;
      const usd =
        price === null ? null : worthOf({ amountBase, decimals, price }, USD_DECIMALS, "ceil");
      return {
        walletId,
        chainId: isOnChain ? token.chainId : null,
        token: isOnChain ? token.address.toLowerCase() : null,
        asset: token.assetId,
        amount: formatAmount(amountBase, decimals),
        countsIn,
        usd: usd === null ? null : formatAmount(usd, USD_DECIMALS),
      };
    },
  );

/**
 * For each policy with daily caps, the usage row of the day, and the amount that the movement adds
 * to the row.
 */
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
