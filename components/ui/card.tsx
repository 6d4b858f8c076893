import { useId, type ReactNode } from "react";
import { cn } from "./cn";

interface CardProps {
  /** Heading of the section; it names the region. */
  readonly title?: ReactNode;
  readonly description?: ReactNode;
  readonly actions?: ReactNode;
  /** Removes the padding, for tables and lists that reach the edges. */
  readonly flush?: boolean;
  /** Stretches the content to the card's height, for rows of equally tall cards. */
  readonly fill?: boolean;
  readonly id?: string;
  readonly className?: string;
  readonly children: ReactNode;
}

export const Card = (props: CardProps): ReactNode => {
  const {
    title,
    description,
    actions,
    flush = false,
    fill = false,
    id,
    className,
    children,
  } = props;
  const headingId = useId();
  return (
    <section
      id={id}
      aria-labelledby={title === undefined ? undefined : headingId}
      className={cn("rounded-card border bg-surface", fill && "flex flex-col", className)}
    >
      {title === undefined ? null : (
        <header className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1 border-b px-4 py-2.5">
          <div className="min-w-0">
            <h2 id={headingId} className="text-base font-semibold">
              {title}
            </h2>
            {description === undefined ? null : (
              <p className="text-sm text-fg-3">{description}</p>
            )}
          </div>
          {actions === undefined ? null : (
            <div className="flex items-center gap-2">{actions}</div>
          )}
        </header>
      )}
      <div className={cn(!flush && "p-4", fill && "flex flex-1 flex-col")}>{children}</div>
    </section>
  );
};

interface FactProps {
  readonly label: ReactNode;
  readonly children: ReactNode;
  /** Larger and bolder, for the most important line. */
  readonly strong?: boolean;
}

export const Facts = ({
  children,
  className,
}: {
  readonly children: ReactNode;
  readonly className?: string;
}): ReactNode => <dl className={cn("divide-y", className)}>{children}</dl>;

export const Fact = ({ label, children, strong = false }: FactProps): ReactNode => (
  <div
    className={cn(
      "flex flex-wrap items-baseline justify-between gap-x-6 gap-y-1 py-2",
      strong && "text-lg font-semibold",
    )}
  >
    <dt className={strong ? undefined : "text-fg-2"}>{label}</dt>
    <dd className="ml-auto min-w-0 text-right">{children}</dd>
  </div>
);
