import { getMe, updateMe } from "@/lib/contracts/auth";
import { ok, route } from "@/lib/http/route";
import { toMe, toMeWithVerification } from "@/lib/trust/auth/serializer";
import { toGasAlerts } from "@/lib/money/notifications/serializer";
import { toSigningOff } from "@/lib/money/signing/serializer";
import { toSponsorBudgets } from "@/lib/books/sponsorship/serializer";

export const GET = route({
  contract: getMe,
  handler: async ({ actor, services }) => {
    const [profile, budgets, alerts, signing] = await Promise.all([
      services.auth.me(actor),
      services.sponsorship.budgets(actor.projectId),
      services.notifications.gasAlerts(),
      services.signing.state(),
    ]);
    return ok({
      ...toMe(profile),
      sponsorBudgets: toSponsorBudgets(budgets),
      gasAlerts: toGasAlerts(alerts),
      signingOff: toSigningOff(signing),
    });
  },
});

export const PATCH = route({
  contract: updateMe,
  handler: async ({ body, actor, services: { auth } }) => {
    const { name, email, approval } = body;
    // The address is changed first, because the service may refuse it. The name then stays
    // unchanged.
    const mailed = email === undefined ? null : await auth.setEmail(actor, email, approval);
    const renamed = name === undefined ? null : await auth.setName(actor, name);
    const profile = renamed ?? mailed?.profile ?? (await auth.me(actor));
    return ok(toMeWithVerification(profile, mailed?.verification ?? null));
  },
});
