import { getMe, updateMe } from "@/lib/contracts/auth";
import { ok, route } from "@/lib/http/route";
import { toMe, toMeWithVerification } from "@/lib/modules/auth/serializer";
import { toSponsorBudgets } from "@/lib/modules/sponsorship/serializer";

export const GET = route({
  contract: getMe,
  handler: async ({ actor, services }) => {
    const [profile, budgets] = await Promise.all([
      services.auth.me(actor),
      services.sponsorship.budgets(actor.projectId),
    ]);
    return ok({ ...toMe(profile), sponsorBudgets: toSponsorBudgets(budgets) });
  },
});

export const PATCH = route({
  contract: updateMe,
  handler: async ({ body, actor, services }) =>
    ok(toMeWithVerification(await services.auth.setEmail(actor, body.email, body.approval))),
});
