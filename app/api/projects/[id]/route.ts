import { updateProject } from "@/lib/contracts/members";
import { notFound } from "@/lib/core/errors";
import { ok, route } from "@/lib/http/route";

export const PATCH = route({
  contract: updateProject,
  handler: async ({ params, body, actor, services }) => {
    if (params.id !== actor.projectId) throw notFound();
    return ok(await services.members.rename(actor, body.name));
  },
});
