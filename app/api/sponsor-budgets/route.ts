import { updateSponsorBudget } from "@/lib/contracts/sponsor-budgets";
import { ok, route } from "@/lib/http/route";
import { toSponsorBudget } from "@/lib/books/sponsorship/serializer";

export const PATCH = route({
  contract: updateSponsorBudget,
  handler: async ({ body, actor, services }) =>
    ok(toSponsorBudget(await services.projectBudgets.set(actor, body))),
});
