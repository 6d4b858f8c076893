import { toReporting } from "@/lib/books/reporting/serializer";
import { getReportingCurrency, setReportingCurrency } from "@/lib/contracts/reporting";
import { ok, route } from "@/lib/http/route";

export const GET = route({
  contract: getReportingCurrency,
  handler: async ({ actor: { projectId }, services }) =>
    ok(toReporting(await services.reporting.get(projectId))),
});

export const PUT = route({
  contract: setReportingCurrency,
  handler: async ({ body: { currency }, actor, services }) =>
    ok(toReporting(await services.reporting.set(actor, currency))),
});
