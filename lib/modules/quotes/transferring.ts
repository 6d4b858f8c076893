import type { z } from "zod";
import type { ChainRegistry } from "@/lib/chains/registry";
import { SLIPPAGE_BPS_DEFAULT } from "@/lib/contracts/swap";
import type { createTransfer } from "@/lib/contracts/transfers";
import type { Actor } from "@/lib/core/actor";
import { DomainError, invalidRequest } from "@/lib/core/errors";
import { doneBy } from "@/lib/modules/audit/service";
import type { EvmAddress } from "@/lib/ports/routing";
import type { Approving } from "./approving";
import type { AtOnceDeps } from "./at-once";
import { endOf, quoteUsed, type QuoteLoader } from "./loading";
import { madeBefore, onceOf } from "./once";
import { checkNothingSent } from "./prepared-before";
import type { Pricing } from "./pricing";
import type { QuoteRow } from "./repository";
import { QUOTE_FIELDS, resolveRequest, unknownWallet, type FieldNames } from "./request";

export type TransferInput = z.output<typeof createTransfer.body>;

const FIELDS: FieldNames = {
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

/** A transfer keeps its asset: the same token, or what stands for it on the other chain. */
const destinationToken = (registry: ChainRegistry, { fromChainId, toChainId, token }: TransferInput): string => {
  if (fromChainId === toChainId) return token;
  const { assetId, symbol } = registry.resolveToken(fromChainId, token);
  const there = registry.tokens(toChainId).find((each) => each.assetId === assetId);
  if (there !== undefined) return there.address;
  const message = `There is no ${symbol} on ${registry.get(toChainId).name}. Swap it on the way instead (POST /swap/quote).`;
  throw new DomainError("unsupported_token", message, {
    details: [{ path: "token", message, code: "unsupported_token" }],
  });
};

/** Chains and token are looked at by `resolveRequest` too, which names every field at fault. */
const tokenOrSame = (registry: ChainRegistry, input: TransferInput): string => {
  const known = registry.list().map(({ id }) => id);
  if (!known.includes(input.fromChainId) || !known.includes(input.toChainId)) return input.token;
  return destinationToken(registry, input);
};

/** A transfer is a quote that keeps its token. */
export const createTransferring = (
  deps: AtOnceDeps,
  parts: { pricing: Pricing; approving: Approving; loading: QuoteLoader },
) => ({
  /** @throws DomainError for every field at fault, `no_route`, `insufficient_liquidity`, `recipient_not_allowed`, `idempotency_mismatch` */
  create: async (actor: Actor, input: TransferInput, key: string | null): Promise<QuoteRow> => {
    // What was made before is given again only to who may still pay the recipient.
    parts.approving.checkAddress(actor, input.toAddress, "toAddress");
    const once = onceOf(key, input);
    const before = await madeBefore(deps.repository, { actor, kind: "transfer", once });
    if (before !== null) return before;
    const wallet = await deps.wallets.findById(actor.projectId, input.fromWalletId);
    if (wallet === null) throw unknownWallet("fromWalletId");
    const { fromChainId: chainId, toChainId, token, amount, toAddress } = input;
    if (chainId === toChainId && wallet.address.toLowerCase() === toAddress.toLowerCase()) {
      throw invalidRequest([{ path: "toAddress", message: "This is the wallet that sends; nothing would move." }]);
    }
    const from = [{ address: wallet.address as EvmAddress, chainId, token, amount }];
    const toToken = tokenOrSame(deps.registry, input);
    const request = { from, toChainId, toToken, toAddress, slippageBps: SLIPPAGE_BPS_DEFAULT };
    const resolved = await resolveRequest(deps, actor.projectId, request, FIELDS);
    parts.approving.checkRecipient(actor, resolved.route, "toAddress");
    return (await parts.pricing.store(actor, resolved, { kind: "transfer", once })).row;
  },

  find: (projectId: string, transferId: string): Promise<QuoteRow | null> =>
    deps.repository.find(projectId, { transferId }),

  /**
   * Ends a transfer that was not executed: from then on no code, no preparing and no execute lets it go.
   * @throws DomainError `not_found`, `quote_already_used`, `invalid_state` where a wallet has sent what it was asked to send
   */
  cancel: async (actor: Actor, transferId: string): Promise<QuoteRow> => {
    const quote = await parts.loading.any(actor, { transferId });
    if (quote.status === "cancelled") return quote;
    if (quote.status === "used") throw quoteUsed(quote);
    await checkNothingSent(deps, quote);
    const at = deps.clock.now();
    const audit = {
      ...doneBy(actor),
      action: "transfer.cancelled",
      subject: transferId,
      data: { quoteId: quote.id },
      at,
    };
    if (await deps.repository.cancel(quote, audit)) return { ...quote, status: "cancelled" };
    const now = await parts.loading.any(actor, { transferId });
    if (now.status === "cancelled") return now;
    throw (
      endOf(now) ??
      new DomainError(
        "invalid_state",
        "This transfer was prepared in the meantime. Cancel it again to end it all the same.",
      )
    );
  },

  /** Newest first, below the id `before`. */
  list: (page: { projectId: string; before?: string | undefined; limit: number }): Promise<QuoteRow[]> =>
    deps.repository.listTransfers(page),
});
