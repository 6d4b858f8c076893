import { streamDeposits } from "@/lib/contracts/deposits";
import { route } from "@/lib/http/route";
import { eventStream } from "@/lib/http/sse";
import { toDeposit } from "@/lib/money/deposits/serializer";

export const GET = route({
  contract: streamDeposits,
  handler: ({ actor, services, signal }) => {
    const stream = services.streams.open(actor, { scope: streamDeposits.scope, signal });
    const events = toStream(
      services.deposits.watch(actor.projectId, stream.signal),
      services.registry,
    );
    return eventStream(events, {
      signal: stream.signal,
      onEnd: stream.close,
      ticker: services.ticker,
    });
  },
});

type Shown = Parameters<typeof toDeposit>;

async function* toStream(views: AsyncIterable<Shown[0]>, chains: Shown[1]) {
  for await (const view of views) {
    const deposit = toDeposit(view, chains);
    yield { id: deposit.id, event: `deposit.${deposit.state}`, data: deposit };
  }
}
