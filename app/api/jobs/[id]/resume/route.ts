import { resumeJob } from "@/lib/contracts/jobs";
import { accepted, route } from "@/lib/http/route";

export const POST = route({
  contract: resumeJob,
  handler: async ({ params, actor, services }) => {
    await services.parkedJobs.resume(actor, params.id);
    return accepted({ resumed: true as const });
  },
});
