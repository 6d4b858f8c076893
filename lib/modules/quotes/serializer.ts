import { notFound } from "@/lib/core/errors";

/** The quote that a request is about. No transfer can be named yet, so a transfer's id names nothing. */
export const quoteIdOf = (subject: { quoteId?: string | undefined; transferId?: string | undefined }): string => {
  if (subject.quoteId === undefined) throw notFound();
  return subject.quoteId;
};
