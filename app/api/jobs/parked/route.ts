import { listParkedJobs } from "@/lib/contracts/jobs";
import { ok, route } from "@/lib/http/route";
import { toParkedJob } from "@/lib/platform/jobs/serializer";

export const GET = route({
  contract: listParkedJobs,
  handler: async ({ actor, services }) =>
    ok({ data: (await services.parkedJobs.list(actor)).map(toParkedJob) }),
});
