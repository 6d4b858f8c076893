"use client";

import { useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { toast } from "@/components/ui/toast";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useApiMutation, useApiQuery } from "@/components/features/session/use-api";
import { Button } from "@/components/ui/button";
import { CodeBlock } from "@/components/ui/code-block";
import { describeError } from "@/components/ui/describe-error";
import { Dialog } from "@/components/ui/dialog";
import { useHideableJson } from "@/components/ui/hideable-text";
import { ErrorState } from "@/components/ui/error-state";
import { LoadingRows } from "@/components/ui/skeleton";
import { Time } from "@/components/ui/time";
import type { ResponseOf } from "@/lib/contracts/contract";
import { getDelivery, listDeliveries, resendDelivery } from "@/lib/api-client/calls.gen";
import { prettyJson } from "./pretty-json";

type Attempt = ResponseOf<typeof getDelivery>["requests"][number];

interface DeliveryDialogProps {
  readonly deliveryId: string;
  readonly onClose: () => void;
}

const REFRESH_MS = 2000;

const requestOf = ({ request }: Attempt): string => {
  const headers = Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`);
  return [`POST ${request.url}`, ...headers, "", prettyJson(request.body)].join("\n");
};

const responseOf = ({ response, error }: Attempt): string => {
  if (response === null) return error ?? "There was no answer.";
  const headers = Object.entries(response.headers).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP ${String(response.statusCode)}`, ...headers, "", response.body].join("\n");
};

const AttemptView = ({ attempt }: { readonly attempt: Attempt }): ReactNode => {
  const hideable = useHideableJson();
  return (
    <section className="flex flex-col gap-2" aria-label={`Attempt ${String(attempt.number)}`}>
      <h3 className="font-medium">
        Attempt {attempt.number} <span className="font-normal text-fg-3">· {attempt.durationMs} ms · </span>
        <Time value={attempt.at} />
      </h3>
      <CodeBlock wrap label={`request of attempt ${String(attempt.number)}`} code={hideable(requestOf(attempt))} />
      <CodeBlock wrap label={`answer to attempt ${String(attempt.number)}`} code={hideable(responseOf(attempt))} />
    </section>
  );
};

/** One delivery: each request with its answer, the newest first. */
export const DeliveryDialog = ({ deliveryId, onClose }: DeliveryDialogProps): ReactNode => {
  const queryClient = useQueryClient();
  const resend = useApiMutation(resendDelivery);
  const params = { id: deliveryId };
  const { data, error, isPending } = useApiQuery(getDelivery, { params }, { refetchIntervalMs: REFRESH_MS });
  const again = async (): Promise<void> => {
    await resend.mutateAsync({ params });
    toast.success("It is sent again, under the same id.");
    onClose();
    await queryClient.invalidateQueries({ queryKey: queryKeyOf(listDeliveries) });
  };
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={data === undefined ? "Delivery" : data.type}
      size="lg"
      footer={
        <Button
          loading={resend.isPending}
          disabled={data === undefined}
          onClick={() => void again().catch((reason: unknown) => toast.error(describeError(reason).message))}
        >
          Resend
        </Button>
      }
    >
      {isPending ? (
        <LoadingRows what="the delivery" />
      ) : data === undefined ? (
        <ErrorState compact error={error} money="Only this detail could not be read." />
      ) : data.requests.length === 0 ? (
        <p className="text-fg-2">It was not tried yet.</p>
      ) : (
        <div className="flex flex-col gap-4">
          {[...data.requests].reverse().map((attempt) => (
            <AttemptView key={attempt.number} attempt={attempt} />
          ))}
        </div>
      )}
    </Dialog>
  );
};
