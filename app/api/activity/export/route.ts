import { exportActivity } from "@/lib/contracts/activity";
import { csvDownload } from "@/lib/http/csv-download";
import { route } from "@/lib/http/route";
import { activityCsv } from "@/lib/money/activity/serializer";

export const GET = route({
  contract: exportActivity,
  handler: ({ query, actor, services }) =>
    Promise.resolve(
      csvDownload("activity.csv", activityCsv(services.activity.all(actor, query))),
    ),
});
