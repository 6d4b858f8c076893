import type { Database } from "@/lib/platform/db/client";
import type { exampleRecorder } from "./example-recorder";

type Call = ReturnType<typeof exampleRecorder>["call"];
type Headers = Readonly<Record<string, string>>;

/**
 * Stores a parked job of an operation that has ended, and calls the routes of jobs. When the job
 * is resumed, it finds nothing left to do.
 */
export const callJobs = async (
  { prisma }: Pick<Database, "prisma">,
  call: Call,
  { as, projectId }: { readonly as: Headers; readonly projectId: string },
): Promise<void> => {
  const { id } = await prisma.operation.findFirstOrThrow({
    where: { projectId, status: "completed" },
  });
  const parked = {
    failures: 50,
    lastError: "A stored amount could not be read.",
    parkedAt: new Date(),
  };
  await prisma.job.create({ data: { id, queue: "operation", runAt: new Date(), ...parked } });
  await call("listParkedJobs", { as });
  await call("resumeJob", { params: { id }, as });
};

/**
 * Calls each route of the webhook receiver for development, which is read before and after a
 * delivery.
 */
export const callReceiver = async (call: Call, as: Headers): Promise<void> => {
  const { url } = await call("readWebhookReceiver", { as });
  const token = new URL(String(url)).pathname.split("/").at(-1) ?? "";
  await call("receiveWebhook", {
    params: { token },
    body: { id: "evt_1", type: "webhook.test" },
  });
  await call("readWebhookReceiver", { as });
};
