import { streamChanges } from "@/lib/contracts/changes";
import { route } from "@/lib/http/route";
import { eventStream, lastEventId, type StreamEvent } from "@/lib/http/sse";
import { cursorText, parseCursor, toChanges, type Batch } from "@/lib/news/feed/serializer";

export const GET = route({
  contract: streamChanges,
  handler: ({ actor, services, request, signal }) => {
    const stream = services.streams.open(actor, { scope: streamChanges.scope, signal });
    const batches = services.changes.watch(
      actor,
      parseCursor(lastEventId(request)),
      stream.signal,
    );
    const response = eventStream(toStream(batches), {
      ...{ signal: stream.signal, onEnd: stream.close, ticker: services.ticker },
    });
    return Promise.resolve(response);
  },
});

async function* toStream(batches: AsyncIterable<Batch>): AsyncGenerator<StreamEvent> {
  for await (const batch of batches)
    yield { id: cursorText(batch.cursor), event: batch.event, data: toChanges(batch) };
}
