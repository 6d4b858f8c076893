import { streamOperationEvents } from "@/lib/contracts/operations";
import { route } from "@/lib/http/route";
import { eventStream, lastEventId } from "@/lib/http/sse";
import { toOperationEvent } from "@/lib/money/operations/serializer";

const SEQ_PATTERN = /^\d{1,9}$/;

export const GET = route({
  contract: streamOperationEvents,
  handler: async ({ params, actor, services, request, signal }) => {
    const operation = await services.operations.getFor(actor, params.id);
    const last = lastEventId(request);
    const afterSeq = last !== null && SEQ_PATTERN.test(last) ? Number(last) : 0;
    const stream = services.streams.open(actor, { scope: streamOperationEvents.scope, signal });
    const events = toStream(services.operations.events(operation.id, afterSeq, stream.signal));
    return eventStream(events, {
      signal: stream.signal,
      onEnd: stream.close,
      ticker: services.ticker,
    });
  },
});

async function* toStream(events: AsyncIterable<Parameters<typeof toOperationEvent>[0]>) {
  for await (const event of events)
    yield { id: String(event.seq), event: event.type, data: toOperationEvent(event) };
}
