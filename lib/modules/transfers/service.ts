import type { Actor } from "@/lib/core/actor";
import type { Clock } from "@/lib/core/clock";
import { notFound } from "@/lib/core/errors";
import { isId } from "@/lib/core/ids";
import type { OperationsService, OperationWithLegs } from "@/lib/modules/operations/service";
import type { QuoteRow, QuotesService, TransferInput } from "@/lib/modules/quotes/service";

/** A transfer: the quote that it is, and the operation that it became. */
export interface Transfer {
  readonly quote: QuoteRow & { readonly transferId: string };
  readonly operation: OperationWithLegs | null;
  /** When it was read; whether it has expired depends on it. */
  readonly readAt: Date;
}

export interface TransfersDeps {
  quotes: QuotesService["transfers"];
  operations: Pick<OperationsService, "getMany">;
  clock: Clock;
}

/** Transfers by their own name. What they go through (code, prepare, execute) is the way of every quote. */
export const createTransfersService = ({ quotes, operations, clock }: TransfersDeps) => {
  const withOperations = async (projectId: string, rows: readonly QuoteRow[]): Promise<Transfer[]> => {
    const ids = rows.flatMap(({ operationId }) => operationId ?? []);
    const found = await operations.getMany(projectId, ids);
    const readAt = clock.now();
    return rows.flatMap((quote) => {
      if (quote.transferId === null) return [];
      const operation = found.get(quote.operationId ?? "") ?? null;
      return [{ quote: { ...quote, transferId: quote.transferId }, operation, readAt }];
    });
  };

  const one = async (projectId: string, row: QuoteRow | null): Promise<Transfer> => {
    const [transfer] = row === null ? [] : await withOperations(projectId, [row]);
    if (transfer === undefined) throw notFound();
    return transfer;
  };

  return {
    /** @throws DomainError for every field at fault, `no_route`, `insufficient_liquidity`, `recipient_not_allowed` */
    create: async (actor: Actor, input: TransferInput, key: string | null): Promise<Transfer> =>
      one(actor.projectId, await quotes.create(actor, input, key)),

    /** @throws DomainError `not_found` */
    get: async (projectId: string, transferId: string): Promise<Transfer> =>
      one(projectId, isId("transfer", transferId) ? await quotes.find(projectId, transferId) : null),

    /** @throws DomainError `not_found`, `quote_already_used`, `invalid_state` where its wallet has sent it already */
    cancel: async (actor: Actor, transferId: string): Promise<Transfer> => {
      if (!isId("transfer", transferId)) throw notFound();
      return one(actor.projectId, await quotes.cancel(actor, transferId));
    },

    /** Newest first. */
    list: async (
      projectId: string,
      { cursor, limit }: { cursor?: string | undefined; limit: number },
    ): Promise<{ data: Transfer[]; nextCursor: string | null }> => {
      const rows = await quotes.list({ projectId, before: cursor, limit: limit + 1 });
      const data = await withOperations(projectId, rows.slice(0, limit));
      return { data, nextCursor: rows.length > limit ? (data.at(-1)?.quote.transferId ?? null) : null };
    },
  };
};
