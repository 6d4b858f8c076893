import type { ReactNode } from "react";
import { Card } from "@/components/ui/card";
import { Skeleton } from "@/components/ui/states";

interface DeskProps {
  readonly fields: ReactNode;
  readonly receipt: ReactNode;
}

/**
 * A form with its receipt beside it. The receipt stays in view while the fields scroll; in a narrow
 * window it is below them.
 */
export const Desk = ({ fields, receipt }: DeskProps): ReactNode => (
  <div className="grid grid-cols-1 items-start gap-4 lg:grid-cols-[minmax(0,7fr)_minmax(18rem,5fr)]">
    <div className="flex min-w-0 flex-col gap-4">{fields}</div>
    <div className="flex min-w-0 flex-col gap-4 lg:sticky lg:top-16">{receipt}</div>
  </div>
);

const FieldShape = (): ReactNode => (
  <span className="flex flex-col gap-2">
    <Skeleton className="w-16" />
    <Skeleton className="h-9" />
  </span>
);

const FieldsShape = (): ReactNode => (
  <Card>
    <div className="grid grid-cols-2 gap-3">
      <FieldShape />
      <FieldShape />
      <span className="col-span-2">
        <FieldShape />
      </span>
    </div>
  </Card>
);

export const DeskSkeleton = ({ what }: { readonly what: string }): ReactNode => (
  <div role="status">
    <span className="sr-only">Loading {what} …</span>
    <Desk
      fields={
        <>
          <FieldsShape />
          <FieldsShape />
        </>
      }
      receipt={
        <Card>
          <span className="flex flex-col gap-4">
            {Array.from({ length: 6 }, (_, index) => (
              <Skeleton key={index} />
            ))}
          </span>
        </Card>
      }
    />
  </div>
);
