import { listDust } from "@/lib/contracts/deposits";
import { ok, route } from "@/lib/http/route";
import { toDust } from "@/lib/money/deposits/serializer";

export const GET = route({
  contract: listDust,
  handler: async ({ actor, services }) => ok(toDust(await services.deposits.dust(actor))),
});
