import type { Actor } from "@/lib/core/actor";
import type { Clock } from "@/lib/core/clock";
import { DomainError, notFound } from "@/lib/core/errors";
import type { Quote } from "./quote";
import type { QuotesRepository, Subject } from "./repository";
import { nounOf, quoteUsed } from "./errors";

/** The error for a quote that can no longer be used; null while it can. */
export const endOf = (quote: Quote): DomainError | null => {
  if (quote.status === "used") return quoteUsed(quote);
  if (quote.status !== "cancelled") return null;
  return new DomainError("invalid_state", `This ${nounOf(quote)} was cancelled. Nothing was sent; ask for a new one.`);
};

/** Loads the quote or transfer that a request names, within the caller's project. */
export const createQuoteLoader = ({ repository, clock }: { repository: QuotesRepository; clock: Clock }) => {
  /** @throws DomainError `not_found` */
  const any = async (actor: Actor, subject: Subject): Promise<Quote> => {
    const quote = await repository.find(actor.projectId, subject);
    if (quote === null) throw notFound();
    return quote;
  };

  /** @throws DomainError `not_found`, `quote_already_used`, `invalid_state` (cancelled), `quote_expired` */
  const open = async (actor: Actor, subject: Subject): Promise<Quote> => {
    const quote = await any(actor, subject);
    const end = endOf(quote);
    if (end !== null) throw end;
    if (quote.expiresAt <= clock.now())
      throw new DomainError("quote_expired", `This ${nounOf(quote)} has expired. Ask for a new one; nothing was sent.`);
    return quote;
  };

  return { any, open };
};
