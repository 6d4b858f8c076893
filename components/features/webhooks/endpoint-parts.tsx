"use client";

import {
  Ban,
  CircleCheck,
  CirclePause,
  CircleX,
  Clock,
  type LucideIcon,
  Pause,
  TriangleAlert,
} from "lucide-react";
import type { ReactNode } from "react";
import { Alert } from "@/components/ui/alert";
import { Badge, type Tone } from "@/components/ui/badge";
import { Button, CopyButton } from "@/components/ui/button";
import { CodeBlock } from "@/components/ui/code-block";
import { Dialog } from "@/components/ui/dialog";
import { Tabs } from "@/components/ui/tabs";
import type { Delivery, Endpoint, NewEndpoint } from "./endpoint";
import { VERIFY_SNIPPETS } from "./verify-snippets";

interface Look {
  readonly word: string;
  readonly tone: Tone;
  readonly icon: LucideIcon;
}

const endpointLook = ({ status, suspendedAt, failingSince }: Endpoint): Look => {
  if (suspendedAt !== null) return { word: "Suspended", tone: "warning", icon: CirclePause };
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

export const SigningSecretDialog = ({
  made,
  onClose,
}: {
  readonly made: NewEndpoint | null;
  readonly onClose: () => void;
}): ReactNode =>
  made === null ? null : (
    <Dialog
      onClose={onClose}
      title="The signing secret"
      size="lg"
      footer={
        <Button variant="primary" onClick={onClose}>
          I have stored it
        </Button>
      }
    >
      <div className="flex flex-col gap-3">
        <Alert tone="warning" title="Copy it now">
          It is shown this once. If it gets lost, rotate it: the old one keeps signing until
          your receiver has the new one.
        </Alert>
        <code
          data-testid="webhook-secret"
          aria-label="Signing secret"
          className="rounded-card border bg-sunken p-3 font-mono text-sm break-all select-all"
        >
          {made.secret}
        </code>
        <CopyButton value={made.secret} label="Copy secret" withText className="self-start" />
        <Tabs
          label="Verify a signature"
          tabs={VERIFY_SNIPPETS.map(({ id, label, code }) => ({
            value: id,
            label,
            content: <CodeBlock label={`${label} code`} code={code} />,
          }))}
        />
      </div>
    </Dialog>
  );

/** Formats JSON with line breaks; other text stays as it is. */
export const prettyJson = (text: string): string => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
};
