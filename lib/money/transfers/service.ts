import type { z } from "zod";
import type { ChainRegistry } from "@/lib/chain/registry";
import { SLIPPAGE_BPS_DEFAULT } from "@/lib/contracts/swap";
import type { createTransfer } from "@/lib/contracts/transfers";
import { DomainError, invalidRequest, notFound } from "@/lib/core/errors";
import {
  endOf,
  type FieldNames,
  type Quote,
  QUOTE_FIELDS,
  type QuotesService,
  quoteUsed,
  type SourceWallet,
  type TransferFilter,
  unknownWallet,
} from "@/lib/money/quotes/service";
import type { EvmAddress } from "@/lib/core/evm";
import { idempotentRequest } from "@/lib/platform/db/idempotency-keys";
import type { Actor } from "@/lib/core/actor";
import type { Clock } from "@/lib/core/clock";
import { isId } from "@/lib/core/ids";
import { doneBy } from "@/lib/news/audit/service";
import type { Operation, OperationsService } from "@/lib/money/operations/service";
import type { PoliciesService } from "@/lib/trust/policies/service";
import { checkNothingSent } from "@/lib/money/swaps/service";

type TransferInput = z.output<typeof createTransfer.body>;

const TRANSFER_FIELDS: FieldNames = {
  ...QUOTE_FIELDS,
  source: () => ({
    whole: "fromWalletId",
    address: "fromWalletId",
    chainId: "fromChainId",
    token: "token",
    amount: "amount",
  }),
  toToken: "token",
};

/**
 * Returns the token that arrives: the sent token, or on another chain the token of the same asset.
 */
const destinationToken = (
  registry: ChainRegistry,
  { fromChainId, toChainId, token }: TransferInput,
): string => {
  if (fromChainId === toChainId) return token;
  const { assetId, symbol } = registry.resolveToken(fromChainId, token);
  const there = registry.tokens(toChainId).find((each) => each.assetId === assetId);
  if (there !== undefined) return there.address;
  const message = `There is no ${symbol} on ${registry.get(toChainId).name}. Swap it on the way instead (POST /swap/quote).`;
  throw new DomainError("unsupported_token", message, {
    details: [{ path: "token", message, code: "unsupported_token" }],
  });
};

/**
 * Returns the token that arrives, or the sent token when a chain is unknown, because
 * `resolveRequest` then reports every wrong field.
 */
const tokenOrSame = (registry: ChainRegistry, input: TransferInput): string => {
  const known = registry.list().map(({ id }) => id);
  if (!known.includes(input.fromChainId) || !known.includes(input.toChainId))
    return input.token;
  return destinationToken(registry, input);
};

/**
 * The quote request for a transfer, which has one source and keeps the asset.
 * @throws DomainError `unsupported_token` when the other chain does not have the asset,
 * `invalid_request` when nothing would move
 */
const toQuoteInput = (
  registry: ChainRegistry,
  input: TransferInput,
  wallet: { readonly address: string },
) => {
  const {
    fromChainId: chainId,
    toChainId,
    token,
    amount,
    toAddress,
    minAmount,
    maxPriceImpactBps,
  } = input;
  if (chainId === toChainId && wallet.address.toLowerCase() === toAddress.toLowerCase()) {
    throw invalidRequest([
      { path: "toAddress", message: "This is the wallet that sends; nothing would move." },
    ]);
  }
  return {
    from: [{ address: wallet.address as EvmAddress, chainId, token, amount }],
    toChainId,
    toToken: tokenOrSame(registry, input),
    toAddress,
    slippageBps: SLIPPAGE_BPS_DEFAULT,
    minAmount,
    maxPriceImpactBps,
  };
};

export interface Transfer {
  readonly quote: Quote & { readonly transferId: string };
  readonly operation: Operation | null;
  /**
   * When the quote and the operation were read. The serializer compares this time with the expiry
   * of the quote.
   */
  readonly readAt: Date;
}

interface TransfersDeps {
  quotes: QuotesService;
  operations: Pick<OperationsService, "getMany">;
  wallets: { findById(projectId: string, walletId: string): Promise<SourceWallet | null> };
  /** Used to refuse the cancellation of a transfer that a wallet has begun to send. */
  smartAccounts: Parameters<typeof checkNothingSent>[0]["smartAccounts"];
  policies: Pick<PoliciesService, "checkRecipient">;
  registry: ChainRegistry;
  clock: Clock;
}

/**
 * Transfers: quotes that keep their asset. This module creates, lists and cancels them; the swaps
 * module prepares and executes them by `transferId`.
 */
export const createTransfersService = (deps: TransfersDeps) => {
  const { quotes, operations, policies, clock } = deps;

  const withOperations = async (
    projectId: string,
    rows: readonly Quote[],
  ): Promise<Transfer[]> => {
    const ids = rows.flatMap(({ operationId }) => operationId ?? []);
    const found = await operations.getMany(projectId, ids);
    const readAt = clock.now();
    return rows.flatMap((quote) => {
      if (quote.transferId === null) return [];
      const operation = found.get(quote.operationId ?? "") ?? null;
      return [{ quote: { ...quote, transferId: quote.transferId }, operation, readAt }];
    });
  };

  const one = async (projectId: string, row: Quote | null): Promise<Transfer> => {
    const [transfer] = row === null ? [] : await withOperations(projectId, [row]);
    if (transfer === undefined) throw notFound();
    return transfer;
  };

  const store = async (
    actor: Actor,
    input: TransferInput,
    key: string | null,
  ): Promise<Quote> => {
    // The check comes before an earlier answer is repeated, because the actor may no longer pay the
    // recipient.
    policies.checkRecipient(actor, input.toAddress, "toAddress");
    const idempotency = idempotentRequest(key, input);
    const earlier = await quotes.findEarlier({ actor, kind: "transfer", idempotency });
    if (earlier !== null) return earlier;
    const wallet = await deps.wallets.findById(actor.projectId, input.fromWalletId);
    if (wallet === null) throw unknownWallet("fromWalletId");
    const resolved = await quotes.resolve(
      actor.projectId,
      toQuoteInput(deps.registry, input, wallet),
      TRANSFER_FIELDS,
    );
    const votes = await quotes.refuse(actor, { kind: "transfer", resolved });
    const purpose = { kind: "transfer", idempotency, votes } as const;
    return (await quotes.store(actor, resolved, purpose)).quote;
  };

  const end = async (actor: Actor, transferId: string): Promise<Quote> => {
    const quote = await quotes.get(actor, { transferId });
    if (quote.status === "cancelled") return quote;
    if (quote.status === "used") throw quoteUsed(quote);
    await checkNothingSent({ smartAccounts: deps.smartAccounts }, quote);
    const at = clock.now();
    const data = { quoteId: quote.id };
    const audit = {
      ...doneBy(actor),
      action: "transfer.cancelled",
      subject: transferId,
      data,
      at,
    };
    if (await quotes.cancel(quote, audit)) return { ...quote, status: "cancelled" };
    const now = await quotes.get(actor, { transferId });
    if (now.status === "cancelled") return now;
    throw (
      endOf(now) ??
      new DomainError(
        "invalid_state",
        "This transfer was prepared in the meantime. Cancel it again to end it all the same.",
      )
    );
  };

  return {
    /**
     * Creates a transfer.
     * @throws DomainError for every faulty field, `no_route`, `insufficient_liquidity`,
     * `recipient_not_allowed`, `idempotency_mismatch`
     */
    create: async (actor: Actor, input: TransferInput, key: string | null): Promise<Transfer> =>
      one(actor.projectId, await store(actor, input, key)),

    /**
     * The project's transfer with this id.
     * @throws DomainError `not_found`
     */
    get: async (projectId: string, transferId: string): Promise<Transfer> =>
      one(
        projectId,
        isId("transfer", transferId) ? await quotes.find(projectId, { transferId }) : null,
      ),

    /**
     * Cancels a transfer that was not executed. Afterwards, its money cannot be moved by a code,
     * by prepare or by execute.
     * @throws DomainError `not_found`, `quote_already_used`, `invalid_state` when its wallet has
     * sent it already
     */
    cancel: async (actor: Actor, transferId: string): Promise<Transfer> => {
      if (!isId("transfer", transferId)) throw notFound();
      return one(actor.projectId, await end(actor, transferId));
    },

    /** Lists transfers, newest first. */
    list: async (
      projectId: string,
      {
        cursor,
        limit,
        ...filter
      }: TransferFilter & { cursor?: string | undefined; limit: number },
    ): Promise<{ data: Transfer[]; nextCursor: string | null }> => {
      const page = { projectId, ...filter, before: cursor, limit: limit + 1 };
      const rows = await quotes.listTransfers(page, clock.now());
      const data = await withOperations(projectId, rows.slice(0, limit));
      return {
        data,
        nextCursor: rows.length > limit ? (data.at(-1)?.quote.transferId ?? null) : null,
      };
    },
  };
};
