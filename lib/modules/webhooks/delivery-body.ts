export interface SentEvent {
  readonly eventId: string;
  readonly type: string;
  readonly createdAt: Date;
  readonly sequence: number;
  /** Sequence number of the previous event for this endpoint; null when the endpoint gets every event, or had none before. */
  readonly previousSequence: number | null;
  readonly objectId: string;
  readonly objectSequence: number;
  /** JSON. */
  readonly payload: string;
  readonly private: boolean;
}

/**
 * The body of a delivery (JSON, Standard Webhooks). Every attempt sends the same bytes as long as the endpoint is not changed. The body of
 * a private event has no details, unless the endpoint includes private ones.
 */
export const deliveryBody = (
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
