import { getMe, updateMe } from "@/lib/contracts/auth";
import { ok, route } from "@/lib/http/route";
import { toMe, toMeWithVerification } from "@/lib/modules/auth/serializer";
import { toGasAlerts } from "@/lib/modules/notifications/serializer";
import { toSponsorBudgets } from "@/lib/modules/sponsorship/serializer";

export const GET = route({
  contract: getMe,
  handler: async ({ actor, services }) => {
    const [profile, budgets, alerts] = await Promise.all([
      services.auth.me(actor),
      services.sponsorship.budgets(actor.projectId),
      services.notifications.gasAlerts(),
    ]);
    return ok({ ...toMe(profile), sponsorBudgets: toSponsorBudgets(budgets), gasAlerts: toGasAlerts(alerts) });
  },
});

export const PATCH = route({
  contract: updateMe,
  handler: async ({ body, actor, services }) =>
    ok(toMeWithVerification(await services.auth.setEmail(actor, body.email, body.approval))),
});
