/** Reads and checks requests for payouts to wallets, and plans their batches. */
import type { Actor } from "@/lib/core/actor";
import type { ChainRegistry } from "@/lib/chain/registry";
import { DomainError, invalidRequest, isDomainError } from "@/lib/core/errors";
import type { PoliciesService } from "@/lib/trust/policies/service";
import type { RecipientRequest, RecipientsService } from "@/lib/trust/recipients/service";
import type { WalletsService } from "@/lib/trust/wallets/service";
import type { EvmAddress } from "@/lib/core/evm";
import { refuseFaults, requireRows } from "../limits";
import type { PayoutsContext } from "../context";
import { readBearing } from "./account-side";
import type { BearingAccount } from "./account-side-repository";
import { hasUnseen, readRows, type WalletRowInput } from "./check-rows";
import {
  planBatches,
  totalsOf,
  walletsDigest,
  type PayoutPlan,
  type TokenTotal,
  type WalletRow,
} from "./rows";
import type { FundFrom } from "./wallet-payout";

export interface RequestInput {
  readonly chainId: number;
  readonly transfers: readonly WalletRowInput[];
  readonly reference?: string | undefined;
  readonly fundFrom?: FundFrom | undefined;
}

/**
 * A request for a payout to wallets. It may name the account that funds the payout, which a run of
 * a schedule never does.
 */
export interface WalletsInput extends RequestInput {
  readonly kind: "wallets";
  readonly sourceAccountId?: string | undefined;
}

export interface WalletsRequest {
  readonly kind: "wallets";
  readonly chainId: number;
  readonly treasury: { readonly id: string; readonly address: EvmAddress };
  readonly rows: readonly WalletRow[];
  readonly totals: readonly TokenTotal[];
  readonly plan: PayoutPlan;
  readonly reference: string | null;
  readonly fundFrom: FundFrom | null;
  /** The account that funds the payout; null when the project funds it. */
  readonly account: BearingAccount | null;
}

export interface RequestDeps {
  readonly registry: ChainRegistry;
  readonly wallets: Pick<WalletsService, "treasury">;
  readonly policies: Pick<PoliciesService, "mayPay">;
  readonly recipients: Pick<RecipientsService, "refusals" | "warnings">;
}

const requireChain = (registry: ChainRegistry, chainId: number): void => {
  try {
    registry.get(chainId);
  } catch (error) {
    if (!isDomainError(error)) throw error;
    const { code, message } = error;
    throw new DomainError(code, message, { details: [{ path: "chainId", message, code }] });
  }
};

const readReference = (text: string | undefined): string | null => {
  if (text === undefined) return null;
  if (hasUnseen(text))
    throw invalidRequest([
      { path: "reference", message: "has a control character, a line break or a tab" },
    ]);
  return text;
};

export const treasuryOf = async (
  { wallets }: Pick<RequestDeps, "wallets">,
  projectId: string,
): Promise<WalletsRequest["treasury"]> => {
  const treasury = await wallets.treasury(projectId);
  if (treasury === null)
    throw new DomainError(
      "unknown_wallet",
      "The project has no treasury yet, so nothing was paid. Try again shortly.",
    );
  return { id: treasury.id, address: treasury.address };
};

/**
 * Checks a request and plans its batches. The result names no account that funds the payout.
 * @throws DomainError `unsupported_chain`, `batch_too_large`; `invalid_request`,
 * `amount_precision`, `unsupported_token` or `recipient_not_allowed` with every invalid row by its
 * index
 */
export const readRequest = async (
  deps: RequestDeps,
  actor: Actor,
  input: RequestInput,
): Promise<WalletsRequest> => {
  const { registry, recipients } = deps;
  const { chainId, transfers, fundFrom = null } = input;
  requireRows(transfers.length);
  requireChain(registry, chainId);
  const reference = readReference(input.reference);
  const treasury = await treasuryOf(deps, actor.projectId);
  const mayPay = deps.policies.mayPay(actor);
  const context = { registry, recipients, chainId, treasury: treasury.address, mayPay };
  const { rows, faults } = readRows(transfers, context);
  refuseFaults(faults, transfers.length);
  return {
    kind: "wallets",
    chainId,
    treasury,
    rows,
    totals: totalsOf(rows),
    plan: planBatches(rows),
    reference,
    fundFrom,
    account: null,
  };
};

/**
 * Like `readRequest`, but also reads the account that funds the payout.
 * @throws DomainError as `readRequest` and `readBearing` do
 */
export const readWalletsRequest = async (
  context: PayoutsContext,
  actor: Actor,
  input: WalletsInput,
): Promise<WalletsRequest> => {
  const request = await readRequest(context, actor, input);
  const { rows } = request;
  return {
    ...request,
    account: await readBearing(context, actor.projectId, { ...input, rows }),
  };
};

/** SHA-256 of everything in a request that a one-time code approves. */
export const digestOf = (request: WalletsRequest): Uint8Array<ArrayBuffer> => {
  const { chainId, treasury, reference, fundFrom, rows, account } = request;
  const accountId = account?.id ?? null;
  return walletsDigest(
    { chainId, fromAddress: treasury.address, reference, fundFrom, accountId },
    rows,
  );
};

/**
 * Returns the recipients of a request in the form that the recipients check expects.
 * @param tokens the tokens whose issuers may have frozen the recipients; empty when `refuseFrozen`
 * checks this
 */
export const recipientsOf = (
  { projectId }: Pick<Actor, "projectId">,
  { chainId, rows }: Pick<WalletsRequest, "chainId" | "rows">,
  tokens: RecipientRequest["tokens"],
): RecipientRequest => ({
  projectId,
  chainIds: [chainId],
  recipients: rows.map(({ recipient: address }, index) => ({
    path: `transfers.${String(index)}.address`,
    address,
  })),
  ...(tokens === undefined ? {} : { tokens }),
  purpose: "pay",
});
