import { whoAmI } from "@/lib/contracts/auth";
import { ok, route } from "@/lib/http/route";

export const GET = route({
  contract: whoAmI,
  handler: ({ actor }) => {
    const { type, projectId } = actor;
    if (type === "user")
      return ok({ type, id: actor.userId, projectId, role: actor.role, scopes: null });
    return ok({ type, id: actor.keyId, projectId, role: null, scopes: actor.scopes });
  },
});
