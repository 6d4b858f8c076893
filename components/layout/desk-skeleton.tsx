import type { ReactNode } from "react";
import { Card } from "@/components/ui/card";
import { Skeleton } from "@/components/ui/skeleton";
import { Desk } from "./desk";

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

/** Shaped like the form and the receipt that come. */
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
