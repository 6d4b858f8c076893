"use client";

import { useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { toast } from "sonner";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { queryKeyOf, useApiMutation } from "@/components/features/session/use-api";
import { Button } from "@/components/ui/button";
import { ErrorState } from "@/components/ui/error-state";
import { Field, Input } from "@/components/ui/field";
import { Card } from "@/components/ui/card";
import { listDeliveries } from "@/lib/contracts/webhook-deliveries";
import { replayWebhookEvents } from "@/lib/contracts/webhook-endpoints";

interface ReplayFormProps {
  readonly endpointId: string;
  readonly disabled: boolean;
}

const numberOf = (text: string): number => (/^[1-9]\d{0,14}$/.test(text.trim()) ? Number(text) : 0);

/** Sends a range of events again, for a receiver that has found a gap. */
export const ReplayForm = ({ endpointId, disabled }: ReplayFormProps): ReactNode => {
  const queryClient = useQueryClient();
  const replay = useApiMutation(replayWebhookEvents);
  const [range, setRange] = useState({ from: "", to: "" });
  const [tried, setTried] = useState(false);
  const [from, to] = [numberOf(range.from), numberOf(range.to)];
  const error = from === 0 || to === 0 || to < from ? "Enter two numbers, the smaller one first." : undefined;
  const submit = async (): Promise<void> => {
    setTried(true);
    if (error !== undefined) return;
    const { queued } = await replay.mutateAsync({ params: { id: endpointId }, body: { from, to } });
    toast.success(
      queued === 0 ? "This endpoint gets none of these events." : `${String(queued)} events are sent again.`,
    );
    await queryClient.invalidateQueries({ queryKey: queryKeyOf(listDeliveries) });
  };
  return (
    <Card
      title="Replay"
      description="Sends the events of a range of numbers again, under the same ids. A receiver finds a gap by the numbers."
    >
      <form
        className="flex flex-col gap-3"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          submit().catch(() => undefined);
        }}
      >
        <div className="flex flex-wrap items-end gap-3">
          <Field label="From number" className="w-32">
            <Input numeric value={range.from} onChange={({ target }) => setRange({ ...range, from: target.value })} />
          </Field>
          <Field label="To number" className="w-32">
            <Input numeric value={range.to} onChange={({ target }) => setRange({ ...range, to: target.value })} />
          </Field>
          <Button type="submit" disabled={disabled} loading={replay.isPending}>
            Replay
          </Button>
        </div>
        {tried && error !== undefined ? (
          <p role="alert" className="text-sm text-danger">
            {error}
          </p>
        ) : null}
        {replay.error === null ? null : <ErrorState compact error={replay.error} money="Nothing was sent." />}
        <ApiSnippet
          method="POST"
          path={`/webhook-endpoints/${endpointId}/replay`}
          auth="bearer"
          body={{ from: from === 0 ? 1 : from, to: to === 0 ? 100 : to }}
        />
      </form>
    </Card>
  );
};
