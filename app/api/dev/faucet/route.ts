import { useFaucet } from "@/lib/contracts/dev";
import { notFound } from "@/lib/core/errors";
import { parseAmount } from "@/lib/core/money";
import { created, route } from "@/lib/http/route";

export const POST = route({
  contract: useFaucet,
  handler: async ({ body, services }) => {
    if (services.faucet === null) throw notFound();
    const token = services.registry.resolveToken(body.chainId, body.token);
    const amountBase = parseAmount(body.amount, token.decimals);
    return created(await services.faucet.give(body.address, token, amountBase));
  },
});
