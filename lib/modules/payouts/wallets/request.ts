/** Reads and checks the request for a payout to wallets: its rows, totals and batches. */
import type { Actor } from "@/lib/core/actor";
import type { ChainRegistry } from "@/lib/chains/registry";
import { DomainError, invalidRequest, isDomainError } from "@/lib/core/errors";
import type { PoliciesService } from "@/lib/modules/policies/service";
import type { WalletsService } from "@/lib/modules/wallets/service";
import type { EvmAddress } from "@/lib/ports/routing";
import { requireRows } from "../limits";
import { readBearing, type AccountSideDeps, type BearingAccount } from "./account-side";
import { hasUnseen, readRows, refuseFaults, type WalletRowInput } from "./check-rows";
import { planBatches, totalsOf, walletsDigest, type PayoutPlan, type TokenTotal, type WalletRow } from "./rows";
import type { FundFrom } from "./wallet-payout";

export interface RequestInput {
  readonly chainId: number;
  readonly transfers: readonly WalletRowInput[];
  readonly reference?: string | undefined;
  readonly fundFrom?: FundFrom | undefined;
}

/** A request that may name the account which bears it; runs of schedules name none. */
export interface BorneInput extends RequestInput {
  readonly sourceAccountId?: string | undefined;
}

/** A checked request: every row is valid. */
export interface PayoutRequest {
  readonly chainId: number;
  readonly treasury: { readonly id: string; readonly address: EvmAddress };
  readonly rows: readonly WalletRow[];
  readonly totals: readonly TokenTotal[];
  readonly plan: PayoutPlan;
  readonly reference: string | null;
  readonly fundFrom: FundFrom | null;
  /** The account that bears the payments; null: the project. */
  readonly account: BearingAccount | null;
}

export interface RequestDeps {
  readonly registry: ChainRegistry;
  readonly wallets: Pick<WalletsService, "treasury">;
  readonly policies: Pick<PoliciesService, "mayPay">;
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
    throw invalidRequest([{ path: "reference", message: "has a control character, a line break or a tab" }]);
  return text;
};

export const treasuryOf = async (
  { wallets }: Pick<RequestDeps, "wallets">,
  projectId: string,
): Promise<PayoutRequest["treasury"]> => {
  const treasury = await wallets.treasury(projectId);
  if (treasury === null)
    throw new DomainError("unknown_wallet", "The project has no treasury yet, so nothing was paid. Try again shortly.");
  return { id: treasury.id, address: treasury.address };
};

/**
 * Checks a request and plans its batches.
 * @throws DomainError `unsupported_chain`, `batch_too_large`; `invalid_request`, `amount_precision`, `unsupported_token` or
 * `recipient_not_allowed` with every bad row by index
 */
export const readRequest = async (deps: RequestDeps, actor: Actor, input: RequestInput): Promise<PayoutRequest> => {
  const { registry } = deps;
  const { chainId, transfers, fundFrom = null } = input;
  requireRows(transfers.length);
  requireChain(registry, chainId);
  const reference = readReference(input.reference);
  const treasury = await treasuryOf(deps, actor.projectId);
  const mayPay = deps.policies.mayPay(actor);
  const { rows, faults } = readRows(transfers, { registry, chainId, treasury: treasury.address, mayPay });
  refuseFaults(faults, transfers.length);
  const [totals, plan] = [totalsOf(rows), planBatches(rows)];
  return { chainId, treasury, rows, totals, plan, reference, fundFrom, account: null };
};

/** As `readRequest`, with the account that bears the payout. @throws DomainError as `readRequest` and `readBearing` do */
export const readBorneRequest = async (
  deps: RequestDeps & AccountSideDeps,
  actor: Actor,
  input: BorneInput,
): Promise<PayoutRequest> => {
  const request = await readRequest(deps, actor, input);
  const { rows } = request;
  return { ...request, account: await readBearing(deps, actor.projectId, { ...input, rows }) };
};

/** SHA-256 of everything that a one-time code approves. */
export const digestOf = (request: PayoutRequest): Uint8Array<ArrayBuffer> => {
  const { chainId, treasury, reference, fundFrom, rows, account } = request;
  const accountId = account?.id ?? null;
  return walletsDigest({ chainId, fromAddress: treasury.address, reference, fundFrom, accountId }, rows);
};
