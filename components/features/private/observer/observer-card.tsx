import { Eye, VenetianMask } from "lucide-react";
import type { ReactNode } from "react";
import { cn } from "@/components/ui/cn";
import { Card } from "@/components/ui/card";
import { SceneFigure } from "./scene-figure";
import { observerScenes, type Observed, type Scene } from "./scenes";

/** Two pictures of one move beside each other: as everybody sees it on the chain, and as its owner sees it. */
export const ObserverCard = ({ observed }: { readonly observed: Observed }): ReactNode => {
  const { chain, own } = observerScenes(observed);
  return (
    <Card title="What an observer sees" flush>
      <div className="grid grid-cols-1 divide-y sm:grid-cols-2 sm:divide-x sm:divide-y-0">
        <View title="Public chain" scene={chain} observed={observed} />
        <View title="Your view" scene={own} observed={observed} isOwn />
      </div>
    </Card>
  );
};

interface ViewProps {
  readonly title: string;
  readonly scene: Scene;
  readonly observed: Observed;
  readonly isOwn?: boolean;
}

const View = ({ title, scene, observed, isOwn = false }: ViewProps): ReactNode => {
  const Icon = isOwn ? VenetianMask : Eye;
  return (
    <figure className="flex min-w-0 flex-col gap-2 p-4">
      <figcaption className={cn("flex items-center gap-1.5 text-sm font-medium", isOwn ? "text-private" : "text-fg-2")}>
        <Icon className="size-4" aria-hidden /> {title}
      </figcaption>
      <div className="mx-auto w-full max-w-md">
        <SceneFigure scene={scene} stage={observed.stage} setSize={observed.setSize} showsCoin={isOwn} />
      </div>
      <ul aria-label={title} className="flex list-disc flex-col gap-0.5 pl-4 text-sm text-fg-2">
        {scene.points.map((point) => (
          <li key={point}>{point}</li>
        ))}
      </ul>
    </figure>
  );
};
