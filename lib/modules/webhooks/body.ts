export interface SentEvent {
  readonly eventId: string;
  readonly type: string;
  readonly createdAt: Date;
  readonly sequence: number;
  /** Of the event that the endpoint was sent before; null where it gets every event, or was sent none. */
  readonly previousSequence: number | null;
  readonly objectId: string;
  readonly objectSequence: number;
  /** JSON. */
  readonly payload: string;
  readonly private: boolean;
}

/**
 * The body that is delivered, the same bytes for each attempt as long as the endpoint is not changed. A private movement's says no more
 * than that there was one, unless the endpoint may know.
 */
export const bodyOf = (
  event: SentEvent,
  endpoint: { readonly payload: "full" | "thin"; readonly includePrivate: boolean },
): string => {
  const { eventId: id, type, sequence, objectId, objectSequence } = event;
  const previous = event.previousSequence === null ? {} : { previousSequence: event.previousSequence };
  if (event.private && !endpoint.includePrivate) return JSON.stringify({ id, type, sequence, ...previous });
  const createdAt = event.createdAt.toISOString();
  const head = JSON.stringify({ id, type, createdAt, sequence, ...previous, objectId, objectSequence });
  // The payload is JSON already.
  return endpoint.payload === "thin" ? head : `${head.slice(0, -1)},"data":${event.payload}}`;
};
