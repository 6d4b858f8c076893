import { createProject } from "@/lib/contracts/members";
import { created, route } from "@/lib/http/route";

export const POST = route({
  contract: createProject,
  handler: async ({ body, actor, services }) =>
    created(await services.newProjects.create(actor, body.name)),
});
