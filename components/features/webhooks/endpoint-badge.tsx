import { Ban, CircleCheck, CircleX, Clock, Pause, TriangleAlert, type LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { Badge, type Tone } from "@/components/ui/badge";
import type { Delivery, Endpoint } from "./endpoint";

interface Look {
  readonly word: string;
  readonly tone: Tone;
  readonly icon: LucideIcon;
}

const endpointLook = ({ status, failingSince }: Endpoint): Look => {
  if (status === "paused") return { word: "Paused", tone: "neutral", icon: Pause };
  if (status === "disabled") return { word: "Disabled", tone: "danger", icon: Ban };
  return failingSince === null
    ? { word: "Active", tone: "success", icon: CircleCheck }
    : { word: "Failing", tone: "warning", icon: TriangleAlert };
};

const deliveryLook = ({ status, attempts }: Delivery): Look => {
  if (status === "delivered") return { word: "Delivered", tone: "success", icon: CircleCheck };
  if (status === "failed") return { word: "Failed", tone: "danger", icon: CircleX };
  return attempts === 0
    ? { word: "Waiting", tone: "neutral", icon: Clock }
    : { word: "Retrying", tone: "warning", icon: Clock };
};

const Looks = ({ look: { word, tone, icon } }: { readonly look: Look }): ReactNode => (
  <Badge tone={tone} icon={icon}>
    {word}
  </Badge>
);

export const EndpointBadge = ({ endpoint }: { readonly endpoint: Endpoint }): ReactNode => (
  <Looks look={endpointLook(endpoint)} />
);

export const DeliveryBadge = ({ delivery }: { readonly delivery: Delivery }): ReactNode => (
  <Looks look={deliveryLook(delivery)} />
);
