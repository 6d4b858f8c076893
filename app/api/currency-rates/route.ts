import { toRates } from "@/lib/books/reporting/serializer";
import { listCurrencyRates } from "@/lib/contracts/reporting";
import { ok, route } from "@/lib/http/route";

export const GET = route({
  contract: listCurrencyRates,
  handler: async ({ services }) => ok(toRates(await services.reporting.rates())),
});
