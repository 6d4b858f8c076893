import { z } from "zod";
import type { Actor } from "@/lib/core/actor";
import type { Clock } from "@/lib/core/clock";
import { DomainError, notFound } from "@/lib/core/errors";
import { storedRouteLeg } from "@/lib/ports/routing-json";
import type { QuoteRow, QuotesRepository, Subject } from "./repository";

/** Column `route` of a quote. */
export const storedRoute = z.object({ provider: z.string(), legs: z.array(storedRouteLeg) });

const noun = ({ transferId }: QuoteRow): string => (transferId === null ? "quote" : "transfer");

export const quoteUsed = (quote: QuoteRow): DomainError =>
  new DomainError(
    "quote_already_used",
    `This ${noun(quote)} was executed already. The money moves once; see the operation.`,
    { extra: quote.operationId === null ? {} : { operationId: quote.operationId } },
  );

/** Finds what a request is about, in the caller's project. */
export const createQuoteLoader = ({ repository, clock }: { repository: QuotesRepository; clock: Clock }) => {
  /** @throws DomainError `not_found` */
  const any = async (actor: Actor, subject: Subject): Promise<QuoteRow> => {
    const quote = await repository.find(actor.projectId, subject);
    if (quote === null) throw notFound();
    return quote;
  };

  /** @throws DomainError `not_found`, `quote_already_used`, `quote_expired` */
  const open = async (actor: Actor, subject: Subject): Promise<QuoteRow> => {
    const quote = await any(actor, subject);
    if (quote.status === "used") throw quoteUsed(quote);
    if (quote.expiresAt <= clock.now())
      throw new DomainError("quote_expired", `This ${noun(quote)} has expired. Ask for a new one; nothing was sent.`);
    return quote;
  };

  return { any, open };
};

export type QuoteLoader = ReturnType<typeof createQuoteLoader>;
