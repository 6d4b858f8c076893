import type { ReactNode } from "react";

interface PageHeaderProps {
  /** Text, or an element that shortens its text. */
  readonly title: ReactNode;
  readonly description?: ReactNode;
  readonly actions?: ReactNode;
}

/** The only h1 of a page. */
export const PageHeader = ({ title, description, actions }: PageHeaderProps): ReactNode => (
  <header className="flex flex-wrap items-end justify-between gap-x-6 gap-y-2 pb-4">
    <div className="min-w-0 sm:flex-1 sm:basis-80">
      <h1 className="text-2xl font-semibold wrap-anywhere">{title}</h1>
      {description === undefined ? null : <p className="max-w-3xl text-fg-2">{description}</p>}
    </div>
    {actions === undefined ? null : (
      <div className="flex flex-wrap items-center gap-2">{actions}</div>
    )}
  </header>
);
