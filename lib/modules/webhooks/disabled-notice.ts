import { quoted } from "@/lib/modules/approvals/service";
import type { OwnerNotice } from "@/lib/modules/projects/service";
import type { EndpointView } from "./endpoint-repository";

const WHY = {
  gone: "it answered 410 Gone, which says that nothing should be sent there any more",
  failing: "every attempt of the last five days failed",
} as const;

/** Mail to the owners about an endpoint that is not sent to any more. */
export const disabledNotice = (told: {
  readonly endpoint: EndpointView;
  readonly reason: keyof typeof WHY;
  readonly publicUrl: string;
}): OwnerNotice => {
  const { endpoint, reason, publicUrl } = told;
  return {
    projectId: endpoint.projectId,
    subject: "A webhook endpoint was disabled",
    text: (project) =>
      [
        `A webhook endpoint of your project ${quoted(project)} at ${publicUrl} was disabled, because ${WHY[reason]}:`,
        "",
        ...(endpoint.description === null ? [] : [`- Name: ${quoted(endpoint.description)}`]),
        `- URL: ${endpoint.url}`,
        `- Id: ${endpoint.id}`,
        "",
        `Nothing is lost. Set it to active again at ${publicUrl}/webhooks, then replay the events that it missed; GET ${publicUrl}/api/events lists them.`,
      ].join("\n"),
  };
};
