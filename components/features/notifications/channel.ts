import type { ResponseOf } from "@/lib/contracts/contract";
import type {
  ChannelService,
  listNotificationChannels,
} from "@/lib/contracts/notification-channels";

export type Channel = ResponseOf<typeof listNotificationChannels>["data"][number];

export const SERVICE_NAMES: Readonly<Record<ChannelService, string>> = {
  slack: "Slack",
  teams: "Microsoft Teams",
};
