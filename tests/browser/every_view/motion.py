"""What moves in a view."""

#: What would move if a style sheet or a script, now or later, animated it.
MOVES = """() => {
    const moving = document.getAnimations().map(one => String(one.effect?.target?.className));
    const styles = [...document.querySelectorAll('*')].flatMap(one => {
        const { transitionDuration, animationName, scrollBehavior } = getComputedStyle(one);
        const still = /^(0s(, )?)+$/.test(transitionDuration) && animationName === 'none';
        return still && scrollBehavior === 'auto' ? [] : [one.outerHTML.slice(0, 80)];
    });
    return [...moving, ...styles];
}"""
